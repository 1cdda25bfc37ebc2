// (i_ptr: Ptr[i32], x_ptr: Ptr[f32], n: i32)
// o = tl.arange(0, 16)
// tl.atomic_cas(i_ptr + o, 0, o, sem="acquire")
// while tl.atomic_cas(i_ptr, 0, 1) == 1:
//     pass
module {
  tt.func public @atomic_cas_entry_point(%i_ptr: !tt.ptr<i32>, %x_ptr: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %o = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %splat = tt.splat %i_ptr : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %addptr = tt.addptr %splat, %o : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %constant = arith.constant 0 : i32
    %splat_1 = tt.splat %constant : i32 -> tensor<16xi32>
    %atomic_cas = tt.atomic_cas acquire, gpu, %addptr, %splat_1, %o : (tensor<16x!tt.ptr<i32>>, tensor<16xi32>, tensor<16xi32>) -> tensor<16xi32>
    scf.while : () -> () {
      %constant_1 = arith.constant 0 : i32
      %constant_2 = arith.constant 1 : i32
      %atomic_cas_1 = tt.atomic_cas acq_rel, gpu, %i_ptr, %constant_1, %constant_2 : (!tt.ptr<i32>, i32, i32) -> i32
      %constant_3 = arith.constant 1 : i32
      %cmpi = arith.cmpi eq, %atomic_cas_1, %constant_3 : i32
      scf.condition(%cmpi)
    } do {
    ^bb0():
      scf.yield
    }
    tt.return
  }
}
