// import teeny_triton as tl
// from teeny_triton import Const, Ptr, f16, f32, i32, i64
// def k(x_ptr: Ptr[f32], n: i32, limit: i32):
//     if n > 0 and n < limit or not n == 7:
//         tl.store(x_ptr, 1.0)
//     if 0 < n < limit:
//         tl.store(x_ptr, 2.0)
module {
  tt.func public @k_entry_point(%x_ptr: !tt.ptr<f32>, %n: i32, %limit: i32) attributes {noinline = false} {
    %constant = arith.constant 0 : i32
    %cmpi = arith.cmpi sgt, %n, %constant : i32
    %cmpi_1 = arith.cmpi slt, %n, %limit : i32
    %andi = arith.andi %cmpi, %cmpi_1 : i1
    %constant_1 = arith.constant 7 : i32
    %cmpi_2 = arith.cmpi eq, %n, %constant_1 : i32
    %constant_2 = arith.constant true
    %xori = arith.xori %cmpi_2, %constant_2 : i1
    %ori = arith.ori %andi, %xori : i1
    scf.if %ori {
      %constant_3 = arith.constant 1.0 : f32
      tt.store %x_ptr, %constant_3 : !tt.ptr<f32>
      scf.yield
    }
    %constant_4 = arith.constant 0 : i32
    %cmpi_3 = arith.cmpi slt, %constant_4, %n : i32
    %cmpi_4 = arith.cmpi slt, %n, %limit : i32
    %andi_1 = arith.andi %cmpi_3, %cmpi_4 : i1
    scf.if %andi_1 {
      %constant_5 = arith.constant 2.0 : f32
      tt.store %x_ptr, %constant_5 : !tt.ptr<f32>
      scf.yield
    }
    tt.return
  }
}
