// import teeny_triton as tl
// from teeny_triton import Const, Ptr, f16, f32, i32, i64
// def k(x_ptr: Ptr[f32], n: i32):
//     for i, value in ((0, 1.0), (5, 2.5)):
//         tl.store(x_ptr + i, value)
module {
  tt.func public @k_entry_point(%x_ptr: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %constant = arith.constant 0 : i32
    %addptr = tt.addptr %x_ptr, %constant : !tt.ptr<f32>, i32
    %constant_1 = arith.constant 1.0 : f32
    tt.store %addptr, %constant_1 : !tt.ptr<f32>
    %constant_2 = arith.constant 5 : i32
    %addptr_1 = tt.addptr %x_ptr, %constant_2 : !tt.ptr<f32>, i32
    %constant_3 = arith.constant 2.5 : f32
    tt.store %addptr_1, %constant_3 : !tt.ptr<f32>
    tt.return
  }
}
