// import teeny_triton as tl
// from teeny_triton import Const, Ptr, f16, f32, i32, i64
// def step(state, x):
//     total, count = state
//     return total + x, count + 1
// def k(x_ptr: Ptr[f32], n: i32):
//     state = (0.0, 0)
//     for i in range(n):
//         state = step(state, tl.load(x_ptr + i))
//     tl.store(x_ptr, state[0] / state[1])
module {
  tt.func public @k_entry_point(%x_ptr: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %constant = arith.constant 0 : i32
    %constant_1 = arith.constant 1 : i32
    %constant_2 = arith.constant 0.0 : f32
    %constant_3 = arith.constant 0 : i32
    %state_2:2 = scf.for %i = %constant to %n step %constant_1 iter_args(%state = %constant_2, %state_1 = %constant_3) -> (f32, i32) : i32 {
      %addptr = tt.addptr %x_ptr, %i : !tt.ptr<f32>, i32
      %load = tt.load %addptr : !tt.ptr<f32>
      %addf = arith.addf %state, %load : f32
      %constant_4 = arith.constant 1 : i32
      %addi = arith.addi %state_1, %constant_4 : i32
      scf.yield %addf, %addi : f32, i32
    }
    %sitofp = arith.sitofp %state_2#1 : i32 to f32
    %divf = arith.divf %state_2#0, %sitofp : f32
    tt.store %x_ptr, %divf : !tt.ptr<f32>
    tt.return
  }
}
