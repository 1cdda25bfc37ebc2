// import teeny_triton as tl
// from teeny_triton import Const, Ptr, f16, f32, i32, i64
// def k(x_ptr: Ptr[f32], n: i32):
//     x = tl.load(x_ptr)
//     if n > 3:
//         x = x + 1
//     tl.store(x_ptr, x)
module {
  tt.func public @k_entry_point(%x_ptr: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %x = tt.load %x_ptr : !tt.ptr<f32>
    %constant = arith.constant 3 : i32
    %cmpi = arith.cmpi sgt, %n, %constant : i32
    %x_1 = scf.if %cmpi -> (f32) {
      %constant_1 = arith.constant 1.0 : f32
      %x_2 = arith.addf %x, %constant_1 : f32
      scf.yield %x_2 : f32
    } else {
      scf.yield %x : f32
    }
    tt.store %x_ptr, %x_1 : !tt.ptr<f32>
    tt.return
  }
}
