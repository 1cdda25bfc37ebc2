// import teeny_triton as tl
// from teeny_triton import Const, Ptr, f16, f32, i32, i64
// def k(x_ptr: Ptr[f32], n: i32):
//     scale = 2.0
//     x = tl.load(x_ptr)
//     y = x
//     for i in range(n):
//         scale = 2.0
//         y = x
//         tl.store(x_ptr + i, y * scale)
//     tl.store(x_ptr, y * scale)
module {
  tt.func public @k_entry_point(%x_ptr: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %x = tt.load %x_ptr : !tt.ptr<f32>
    %constant = arith.constant 0 : i32
    %constant_1 = arith.constant 1 : i32
    %y_1 = scf.for %i = %constant to %n step %constant_1 iter_args(%y = %x) -> (f32) : i32 {
      %addptr = tt.addptr %x_ptr, %i : !tt.ptr<f32>, i32
      %constant_2 = arith.constant 2.0 : f32
      %mulf = arith.mulf %x, %constant_2 : f32
      tt.store %addptr, %mulf : !tt.ptr<f32>
      scf.yield %x : f32
    }
    %constant_3 = arith.constant 2.0 : f32
    %mulf_1 = arith.mulf %y_1, %constant_3 : f32
    tt.store %x_ptr, %mulf_1 : !tt.ptr<f32>
    tt.return
  }
}
