// (x_ptr: Ptr[i64])
// p = tl.load(x_ptr).to(tl.pointer_type(f32))
// tl.store(p + tl.arange(0, 4), 1.0)
module {
  tt.func public @pointer_type_entry_point(%x_ptr: !tt.ptr<i64>) attributes {noinline = false} {
    %load = tt.load %x_ptr : !tt.ptr<i64>
    %p = tt.int_to_ptr %load : i64 -> !tt.ptr<f32>
    %make_range = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %splat = tt.splat %p : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
    %addptr = tt.addptr %splat, %make_range : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
    %constant = arith.constant 1.0 : f32
    %splat_1 = tt.splat %constant : f32 -> tensor<4xf32>
    tt.store %addptr, %splat_1 : tensor<4x!tt.ptr<f32>>
    tt.return
  }
}
