// (x00_ptr: Ptr[f32], out0_ptr: Ptr[f32], x10_ptr: Ptr[f64], out1_ptr: Ptr[f64])
// o = tl.arange(0, 16)
// tl.store(out0_ptr + o, tl.math.rcp_ru(tl.load(x00_ptr + o)))
// tl.store(out1_ptr + o, tl.math.rcp_ru(tl.load(x10_ptr + o)))
module {
  tt.func public @rcp_ru_entry_point(%x00_ptr: !tt.ptr<f32>, %out0_ptr: !tt.ptr<f32>, %x10_ptr: !tt.ptr<f64>, %out1_ptr: !tt.ptr<f64>) attributes {noinline = false} {
    %o = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %splat = tt.splat %out0_ptr : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %addptr = tt.addptr %splat, %o : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %splat_1 = tt.splat %x00_ptr : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %addptr_1 = tt.addptr %splat_1, %o : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %load = tt.load %addptr_1 : tensor<16x!tt.ptr<f32>>
    %extern_elementwise = tt.extern_elementwise %load {libname = "", libpath = "", pure = true, symbol = "__nv_frcp_ru"} : (tensor<16xf32>) -> tensor<16xf32>
    tt.store %addptr, %extern_elementwise : tensor<16x!tt.ptr<f32>>
    %splat_2 = tt.splat %out1_ptr : !tt.ptr<f64> -> tensor<16x!tt.ptr<f64>>
    %addptr_2 = tt.addptr %splat_2, %o : tensor<16x!tt.ptr<f64>>, tensor<16xi32>
    %splat_3 = tt.splat %x10_ptr : !tt.ptr<f64> -> tensor<16x!tt.ptr<f64>>
    %addptr_3 = tt.addptr %splat_3, %o : tensor<16x!tt.ptr<f64>>, tensor<16xi32>
    %load_1 = tt.load %addptr_3 : tensor<16x!tt.ptr<f64>>
    %extern_elementwise_1 = tt.extern_elementwise %load_1 {libname = "", libpath = "", pure = true, symbol = "__nv_drcp_ru"} : (tensor<16xf64>) -> tensor<16xf64>
    tt.store %addptr_2, %extern_elementwise_1 : tensor<16x!tt.ptr<f64>>
    tt.return
  }
}
