// (x_ptr: Ptr[f32], n: i32)
// o = tl.max_constancy(tl.arange(0, 16) // n, 4)
// tl.store(x_ptr + o, 1.0)
module {
  tt.func public @max_constancy_entry_point(%x_ptr: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %make_range = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %splat = tt.splat %n : i32 -> tensor<16xi32>
    %o = arith.divsi %make_range, %splat {tt.constancy = dense<4> : tensor<1xi32>} : tensor<16xi32>
    %splat_1 = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %addptr = tt.addptr %splat_1, %o : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %constant = arith.constant 1.0 : f32
    %splat_2 = tt.splat %constant : f32 -> tensor<16xf32>
    tt.store %addptr, %splat_2 : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}
