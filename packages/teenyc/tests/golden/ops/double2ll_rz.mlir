// (x00_ptr: Ptr[f64], out0_ptr: Ptr[i64])
// o = tl.arange(0, 16)
// tl.store(out0_ptr + o, tl.math.double2ll_rz(tl.load(x00_ptr + o)))
module {
  tt.func public @double2ll_rz_entry_point(%x00_ptr: !tt.ptr<f64>, %out0_ptr: !tt.ptr<i64>) attributes {noinline = false} {
    %o = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %splat = tt.splat %out0_ptr : !tt.ptr<i64> -> tensor<16x!tt.ptr<i64>>
    %addptr = tt.addptr %splat, %o : tensor<16x!tt.ptr<i64>>, tensor<16xi32>
    %splat_1 = tt.splat %x00_ptr : !tt.ptr<f64> -> tensor<16x!tt.ptr<f64>>
    %addptr_1 = tt.addptr %splat_1, %o : tensor<16x!tt.ptr<f64>>, tensor<16xi32>
    %load = tt.load %addptr_1 : tensor<16x!tt.ptr<f64>>
    %extern_elementwise = tt.extern_elementwise %load {libname = "", libpath = "", pure = true, symbol = "__nv_double2ll_rz"} : (tensor<16xf64>) -> tensor<16xi64>
    tt.store %addptr, %extern_elementwise : tensor<16x!tt.ptr<i64>>
    tt.return
  }
}
