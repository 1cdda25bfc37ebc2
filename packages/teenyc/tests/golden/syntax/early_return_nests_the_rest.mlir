// import teeny_triton as tl
// from teeny_triton import Const, Ptr, f16, f32, i32, i64
// def k(x_ptr: Ptr[f32], n: i32):
//     pid = tl.program_id(0)
//     if pid >= n:
//         return
//     x = tl.load(x_ptr + pid)
//     if x < 0:
//         return
//     tl.store(x_ptr + pid, x * 2)
module {
  tt.func public @k_entry_point(%x_ptr: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %pid = tt.get_program_id x : i32
    %cmpi = arith.cmpi sge, %pid, %n : i32
    scf.if %cmpi {
      scf.yield
    } else {
      %addptr = tt.addptr %x_ptr, %pid : !tt.ptr<f32>, i32
      %x = tt.load %addptr : !tt.ptr<f32>
      %constant = arith.constant 0.0 : f32
      %cmpf = arith.cmpf olt, %x, %constant : f32
      scf.if %cmpf {
        scf.yield
      } else {
        %addptr_1 = tt.addptr %x_ptr, %pid : !tt.ptr<f32>, i32
        %constant_1 = arith.constant 2.0 : f32
        %mulf = arith.mulf %x, %constant_1 : f32
        tt.store %addptr_1, %mulf : !tt.ptr<f32>
        scf.yield
      }
      scf.yield
    }
    tt.return
  }
}
