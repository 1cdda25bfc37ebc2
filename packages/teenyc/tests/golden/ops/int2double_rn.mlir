// (x00_ptr: Ptr[i32], out0_ptr: Ptr[f64])
// o = tl.arange(0, 16)
// tl.store(out0_ptr + o, tl.math.int2double_rn(tl.load(x00_ptr + o)))
module {
  tt.func public @int2double_rn_entry_point(%x00_ptr: !tt.ptr<i32>, %out0_ptr: !tt.ptr<f64>) attributes {noinline = false} {
    %o = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %splat = tt.splat %out0_ptr : !tt.ptr<f64> -> tensor<16x!tt.ptr<f64>>
    %addptr = tt.addptr %splat, %o : tensor<16x!tt.ptr<f64>>, tensor<16xi32>
    %splat_1 = tt.splat %x00_ptr : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %addptr_1 = tt.addptr %splat_1, %o : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %load = tt.load %addptr_1 : tensor<16x!tt.ptr<i32>>
    %extern_elementwise = tt.extern_elementwise %load {libname = "", libpath = "", pure = true, symbol = "__nv_int2double_rn"} : (tensor<16xi32>) -> tensor<16xf64>
    tt.store %addptr, %extern_elementwise : tensor<16x!tt.ptr<f64>>
    tt.return
  }
}
