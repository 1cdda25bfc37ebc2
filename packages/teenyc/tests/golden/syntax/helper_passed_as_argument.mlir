// import teeny_triton as tl
// from teeny_triton import Const, Ptr, f16, f32, i32, i64
// def twice(x):
//     return x * 2
// def apply(f, x):
//     return f(f(x))
// def k(x_ptr: Ptr[f32], n: i32):
//     tl.store(x_ptr, apply(twice, tl.load(x_ptr)))
module {
  tt.func public @k_entry_point(%x_ptr: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %load = tt.load %x_ptr : !tt.ptr<f32>
    %constant = arith.constant 2.0 : f32
    %mulf = arith.mulf %load, %constant : f32
    %constant_1 = arith.constant 2.0 : f32
    %mulf_1 = arith.mulf %mulf, %constant_1 : f32
    tt.store %x_ptr, %mulf_1 : !tt.ptr<f32>
    tt.return
  }
}
