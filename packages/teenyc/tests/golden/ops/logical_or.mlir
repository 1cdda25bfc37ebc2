// (x_ptr: Ptr[f32], y_ptr: Ptr[f32], out_ptr: Ptr[f32])
// o = tl.arange(0, 16)
// x = tl.load(x_ptr + o)
// y = tl.load(y_ptr + o)
// tl.store(out_ptr + o, tl.where(tl.logical_or(x, y), 1.0, 2.0))
module {
  tt.func public @logical_or_entry_point(%x_ptr: !tt.ptr<f32>, %y_ptr: !tt.ptr<f32>, %out_ptr: !tt.ptr<f32>) attributes {noinline = false} {
    %o = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %splat = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %addptr = tt.addptr %splat, %o : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %x = tt.load %addptr : tensor<16x!tt.ptr<f32>>
    %splat_1 = tt.splat %y_ptr : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %addptr_1 = tt.addptr %splat_1, %o : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %y = tt.load %addptr_1 : tensor<16x!tt.ptr<f32>>
    %splat_2 = tt.splat %out_ptr : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %addptr_2 = tt.addptr %splat_2, %o : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %constant = arith.constant 0.0 : f32
    %splat_3 = tt.splat %constant : f32 -> tensor<16xf32>
    %cmpf = arith.cmpf une, %x, %splat_3 : tensor<16xf32>
    %constant_1 = arith.constant 0.0 : f32
    %splat_4 = tt.splat %constant_1 : f32 -> tensor<16xf32>
    %cmpf_1 = arith.cmpf une, %y, %splat_4 : tensor<16xf32>
    %ori = arith.ori %cmpf, %cmpf_1 : tensor<16xi1>
    %constant_2 = arith.constant 1.0 : f32
    %constant_3 = arith.constant 2.0 : f32
    %splat_5 = tt.splat %constant_2 : f32 -> tensor<16xf32>
    %splat_6 = tt.splat %constant_3 : f32 -> tensor<16xf32>
    %select = arith.select %ori, %splat_5, %splat_6 : tensor<16xi1>, tensor<16xf32>
    tt.store %addptr_2, %select : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}
