// import teeny_triton as tl
// from teeny_triton import Const, Ptr, f16, f32, i32, i64
// def both(x, scale=2.0):
//     return x * scale, x + scale
// def k(x_ptr: Ptr[f32], n: i32):
//     a, b = both(tl.load(x_ptr), scale=3.0)
//     c, d = both(x=a)
//     tl.store(x_ptr, b + c + d)
module {
  tt.func public @k_entry_point(%x_ptr: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %load = tt.load %x_ptr : !tt.ptr<f32>
    %constant = arith.constant 3.0 : f32
    %a = arith.mulf %load, %constant : f32
    %constant_1 = arith.constant 3.0 : f32
    %b = arith.addf %load, %constant_1 : f32
    %constant_2 = arith.constant 2.0 : f32
    %c = arith.mulf %a, %constant_2 : f32
    %constant_3 = arith.constant 2.0 : f32
    %d = arith.addf %a, %constant_3 : f32
    %addf = arith.addf %b, %c : f32
    %addf_1 = arith.addf %addf, %d : f32
    tt.store %x_ptr, %addf_1 : !tt.ptr<f32>
    tt.return
  }
}
