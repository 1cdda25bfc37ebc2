// import teeny_triton as tl
// from teeny_triton import Const, Ptr, f16, f32, i32, i64
// def k(x_ptr: Ptr[f32], n: i32):
//     x = tl.load(x_ptr) if n > 0 else 0.0
//     y = 1 if n == 3 else 2
//     tl.store(x_ptr + y, x)
module {
  tt.func public @k_entry_point(%x_ptr: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %constant = arith.constant 0 : i32
    %cmpi = arith.cmpi sgt, %n, %constant : i32
    %x = scf.if %cmpi -> (f32) {
      %load = tt.load %x_ptr : !tt.ptr<f32>
      scf.yield %load : f32
    } else {
      %constant_1 = arith.constant 0.0 : f32
      scf.yield %constant_1 : f32
    }
    %constant_2 = arith.constant 3 : i32
    %cmpi_1 = arith.cmpi eq, %n, %constant_2 : i32
    %y = scf.if %cmpi_1 -> (i32) {
      %constant_3 = arith.constant 1 : i32
      scf.yield %constant_3 : i32
    } else {
      %constant_4 = arith.constant 2 : i32
      scf.yield %constant_4 : i32
    }
    %addptr = tt.addptr %x_ptr, %y : !tt.ptr<f32>, i32
    tt.store %addptr, %x : !tt.ptr<f32>
    tt.return
  }
}
