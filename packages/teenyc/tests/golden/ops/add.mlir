// (x_ptr: Ptr[i32], y_ptr: Ptr[i32], out_ptr: Ptr[i32])
// o = tl.arange(0, 16)
// x = tl.load(x_ptr + o)
// y = tl.load(y_ptr + o)
// tl.store(out_ptr + o, tl.add(x, y, sanitize_overflow=False))
module {
  tt.func public @add_entry_point(%x_ptr: !tt.ptr<i32>, %y_ptr: !tt.ptr<i32>, %out_ptr: !tt.ptr<i32>) attributes {noinline = false} {
    %o = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %splat = tt.splat %x_ptr : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %addptr = tt.addptr %splat, %o : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %x = tt.load %addptr : tensor<16x!tt.ptr<i32>>
    %splat_1 = tt.splat %y_ptr : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %addptr_1 = tt.addptr %splat_1, %o : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %y = tt.load %addptr_1 : tensor<16x!tt.ptr<i32>>
    %splat_2 = tt.splat %out_ptr : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %addptr_2 = tt.addptr %splat_2, %o : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %addi = arith.addi %x, %y : tensor<16xi32>
    tt.store %addptr_2, %addi : tensor<16x!tt.ptr<i32>>
    tt.return
  }
}
