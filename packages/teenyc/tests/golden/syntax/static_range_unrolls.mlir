// import teeny_triton as tl
// from teeny_triton import Const, Ptr, f16, f32, i32, i64
// def k(x_ptr: Ptr[f32], n: i32):
//     total = 0
//     for i in tl.static_range(4):
//         if i == 2:
//             continue
//         total += i
//     tl.store(x_ptr + total, 1.0)
module {
  tt.func public @k_entry_point(%x_ptr: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %constant = arith.constant 4 : i32
    %addptr = tt.addptr %x_ptr, %constant : !tt.ptr<f32>, i32
    %constant_1 = arith.constant 1.0 : f32
    tt.store %addptr, %constant_1 : !tt.ptr<f32>
    tt.return
  }
}
