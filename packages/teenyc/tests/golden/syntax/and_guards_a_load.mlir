// import teeny_triton as tl
// from teeny_triton import Const, Ptr, f16, f32, i32, i64
// def k(x_ptr: Ptr[f32], n: i32, limit: i32):
//     if n < limit and tl.load(x_ptr + n) > 0:
//         tl.store(x_ptr, 1.0)
module {
  tt.func public @k_entry_point(%x_ptr: !tt.ptr<f32>, %n: i32, %limit: i32) attributes {noinline = false} {
    %cmpi = arith.cmpi slt, %n, %limit : i32
    %if = scf.if %cmpi -> (i1) {
      %addptr = tt.addptr %x_ptr, %n : !tt.ptr<f32>, i32
      %load = tt.load %addptr : !tt.ptr<f32>
      %constant = arith.constant 0.0 : f32
      %cmpf = arith.cmpf ogt, %load, %constant : f32
      scf.yield %cmpf : i1
    } else {
      %constant_1 = arith.constant false
      scf.yield %constant_1 : i1
    }
    scf.if %if {
      %constant_2 = arith.constant 1.0 : f32
      tt.store %x_ptr, %constant_2 : !tt.ptr<f32>
      scf.yield
    }
    tt.return
  }
}
