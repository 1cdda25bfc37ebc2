// import teeny_triton as tl
// from teeny_triton import Const, Ptr, f16, f32, i32, i64
// def relu(x):
//     if x > 0:
//         return x
//     return 0.0
// def k(x_ptr: Ptr[f32], n: i32):
//     tl.store(x_ptr, relu(tl.load(x_ptr + n)))
module {
  tt.func public @k_entry_point(%x_ptr: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %addptr = tt.addptr %x_ptr, %n : !tt.ptr<f32>, i32
    %load = tt.load %addptr : !tt.ptr<f32>
    %constant = arith.constant 0.0 : f32
    %cmpf = arith.cmpf ogt, %load, %constant : f32
    %if = scf.if %cmpf -> (f32) {
      scf.yield %load : f32
    } else {
      %constant_1 = arith.constant 0.0 : f32
      scf.yield %constant_1 : f32
    }
    tt.store %x_ptr, %if : !tt.ptr<f32>
    tt.return
  }
}
