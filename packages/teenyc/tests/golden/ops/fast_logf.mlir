// (x00_ptr: Ptr[f32], out0_ptr: Ptr[f32])
// o = tl.arange(0, 16)
// tl.store(out0_ptr + o, tl.math.fast_logf(tl.load(x00_ptr + o)))
module {
  tt.func public @fast_logf_entry_point(%x00_ptr: !tt.ptr<f32>, %out0_ptr: !tt.ptr<f32>) attributes {noinline = false} {
    %o = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %splat = tt.splat %out0_ptr : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %addptr = tt.addptr %splat, %o : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %splat_1 = tt.splat %x00_ptr : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %addptr_1 = tt.addptr %splat_1, %o : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %load = tt.load %addptr_1 : tensor<16x!tt.ptr<f32>>
    %extern_elementwise = tt.extern_elementwise %load {libname = "", libpath = "", pure = true, symbol = "__nv_fast_logf"} : (tensor<16xf32>) -> tensor<16xf32>
    tt.store %addptr, %extern_elementwise : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}
