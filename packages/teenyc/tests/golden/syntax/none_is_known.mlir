// import teeny_triton as tl
// from teeny_triton import Const, Ptr, f16, f32, i32, i64
// def k(x_ptr: Ptr[f32], n: i32, bias: Const[int] = None):
//     if bias is not None and bias.dtype == f32:
//         tl.store(x_ptr, 1.0)
//     else:
//         tl.store(x_ptr, 0.0)
//     if x_ptr is not None:
//         tl.store(x_ptr + 1, 1.0)
module {
  tt.func public @k_entry_point(%x_ptr: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %constant = arith.constant 0.0 : f32
    tt.store %x_ptr, %constant : !tt.ptr<f32>
    %constant_1 = arith.constant 1 : i32
    %addptr = tt.addptr %x_ptr, %constant_1 : !tt.ptr<f32>, i32
    %constant_2 = arith.constant 1.0 : f32
    tt.store %addptr, %constant_2 : !tt.ptr<f32>
    tt.return
  }
}
