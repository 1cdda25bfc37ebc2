// import teeny_triton as tl
// from teeny_triton import Ptr, f32, i32
// def add(x, y):
//     return x + y
// def k(x_ptr: Ptr[f32], n: i32):
//     x = tl.load(x_ptr + n, mask=n < 7, other=0.0)
//     tl.store(x_ptr, add(tl.load(x_ptr), y=tl.load(x_ptr + 1)) + x)
module {
  tt.func public @k_entry_point(%x_ptr: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %constant = arith.constant 7 : i32
    %cmpi = arith.cmpi slt, %n, %constant : i32
    %addptr = tt.addptr %x_ptr, %n : !tt.ptr<f32>, i32
    %constant_1 = arith.constant 0.0 : f32
    %x = tt.load %addptr, %cmpi, %constant_1 : !tt.ptr<f32>
    %load = tt.load %x_ptr : !tt.ptr<f32>
    %constant_2 = arith.constant 1 : i32
    %addptr_1 = tt.addptr %x_ptr, %constant_2 : !tt.ptr<f32>, i32
    %load_1 = tt.load %addptr_1 : !tt.ptr<f32>
    %addf = arith.addf %load, %load_1 : f32
    %addf_1 = arith.addf %addf, %x : f32
    tt.store %x_ptr, %addf_1 : !tt.ptr<f32>
    tt.return
  }
}
