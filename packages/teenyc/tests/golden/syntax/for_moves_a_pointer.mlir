// import teeny_triton as tl
// from teeny_triton import Const, Ptr, f16, f32, i32, i64
// def k(x_ptr: Ptr[f32], n: i32):
//     p = x_ptr
//     for _ in range(n):
//         tl.store(p, 0.0)
//         p += 1
module {
  tt.func public @k_entry_point(%x_ptr: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %constant = arith.constant 0 : i32
    %constant_1 = arith.constant 1 : i32
    %p_1 = scf.for %_ = %constant to %n step %constant_1 iter_args(%p = %x_ptr) -> (!tt.ptr<f32>) : i32 {
      %constant_2 = arith.constant 0.0 : f32
      tt.store %p, %constant_2 : !tt.ptr<f32>
      %constant_3 = arith.constant 1 : i32
      %p_2 = tt.addptr %p, %constant_3 : !tt.ptr<f32>, i32
      scf.yield %p_2 : !tt.ptr<f32>
    }
    tt.return
  }
}
