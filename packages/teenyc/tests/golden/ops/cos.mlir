// (x_ptr: Ptr[f32], y_ptr: Ptr[f32], out_ptr: Ptr[f32])
// o = tl.arange(0, 16)
// x = tl.load(x_ptr + o)
// y = tl.load(y_ptr + o)
// tl.store(out_ptr + o, tl.cos(x))
module {
  tt.func public @cos_entry_point(%x_ptr: !tt.ptr<f32>, %y_ptr: !tt.ptr<f32>, %out_ptr: !tt.ptr<f32>) attributes {noinline = false} {
    %o = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %splat = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %addptr = tt.addptr %splat, %o : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %x = tt.load %addptr : tensor<16x!tt.ptr<f32>>
    %splat_1 = tt.splat %y_ptr : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %addptr_1 = tt.addptr %splat_1, %o : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %y = tt.load %addptr_1 : tensor<16x!tt.ptr<f32>>
    %splat_2 = tt.splat %out_ptr : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %addptr_2 = tt.addptr %splat_2, %o : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %cos = math.cos %x : tensor<16xf32>
    tt.store %addptr_2, %cos : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}
