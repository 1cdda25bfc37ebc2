// import teeny_triton as tl
// from teeny_triton import Const, Ptr, f16, f32, i32, i64
// def k(x_ptr: Ptr[f32], n: i32):
//     b = 0
//     a = 0.0
//     for i in tl.range(0, n, num_stages=2, flatten=True):
//         a += tl.load(x_ptr + b)
//         b += i
//     tl.store(x_ptr + b, a)
module {
  tt.func public @k_entry_point(%x_ptr: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %constant = arith.constant 0 : i32
    %constant_1 = arith.constant 1 : i32
    %constant_2 = arith.constant 0 : i32
    %constant_3 = arith.constant 0.0 : f32
    %b_1:2 = scf.for %i = %constant to %n step %constant_1 iter_args(%b = %constant_2, %a = %constant_3) -> (i32, f32) : i32 {
      %addptr = tt.addptr %x_ptr, %b : !tt.ptr<f32>, i32
      %load = tt.load %addptr : !tt.ptr<f32>
      %a_2 = arith.addf %a, %load : f32
      %b_2 = arith.addi %b, %i : i32
      scf.yield %b_2, %a_2 : i32, f32
    } {tt.num_stages = 2 : i32, tt.flatten}
    %addptr_1 = tt.addptr %x_ptr, %b_1#0 : !tt.ptr<f32>, i32
    tt.store %addptr_1, %b_1#1 : !tt.ptr<f32>
    tt.return
  }
}
