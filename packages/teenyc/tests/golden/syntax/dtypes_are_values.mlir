// import teeny_triton as tl
// from teeny_triton import Const, Ptr, f16, f32, i32, i64
// def k(x_ptr: Ptr[f16], n: i32):
//     D = x_ptr.dtype.element_ty
//     x = tl.load(x_ptr).to(f32)
//     if D == f16:
//         x = x * 2
//     tl.store(x_ptr, x.to(tl.elem(x_ptr)))
//     tl.store(x_ptr + 1, D(3))
module {
  tt.func public @k_entry_point(%x_ptr: !tt.ptr<f16>, %n: i32) attributes {noinline = false} {
    %load = tt.load %x_ptr : !tt.ptr<f16>
    %x = arith.extf %load : f16 to f32
    %constant = arith.constant 2.0 : f32
    %x_1 = arith.mulf %x, %constant : f32
    %truncf = arith.truncf %x_1 : f32 to f16
    tt.store %x_ptr, %truncf : !tt.ptr<f16>
    %constant_1 = arith.constant 1 : i32
    %addptr = tt.addptr %x_ptr, %constant_1 : !tt.ptr<f16>, i32
    %constant_2 = arith.constant 3 : i32
    %sitofp = arith.sitofp %constant_2 : i32 to f16
    tt.store %addptr, %sitofp : !tt.ptr<f16>
    tt.return
  }
}
