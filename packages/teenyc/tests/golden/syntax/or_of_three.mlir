// import teeny_triton as tl
// from teeny_triton import Const, Ptr, f16, f32, i32, i64
// def k(x_ptr: Ptr[f32], n: i32):
//     a = tl.load(x_ptr)
//     b = tl.load(x_ptr + 1)
//     c = tl.load(x_ptr + 2)
//     use = (a != 1) or (b != 1) or (c != 2)
//     tl.store(x_ptr, 1.0 if use else -1.0)
module {
  tt.func public @k_entry_point(%x_ptr: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %a = tt.load %x_ptr : !tt.ptr<f32>
    %constant = arith.constant 1 : i32
    %addptr = tt.addptr %x_ptr, %constant : !tt.ptr<f32>, i32
    %b = tt.load %addptr : !tt.ptr<f32>
    %constant_1 = arith.constant 2 : i32
    %addptr_1 = tt.addptr %x_ptr, %constant_1 : !tt.ptr<f32>, i32
    %c = tt.load %addptr_1 : !tt.ptr<f32>
    %constant_2 = arith.constant 1.0 : f32
    %cmpf = arith.cmpf une, %a, %constant_2 : f32
    %constant_3 = arith.constant 1.0 : f32
    %cmpf_1 = arith.cmpf une, %b, %constant_3 : f32
    %ori = arith.ori %cmpf, %cmpf_1 : i1
    %constant_4 = arith.constant 2.0 : f32
    %cmpf_2 = arith.cmpf une, %c, %constant_4 : f32
    %use = arith.ori %ori, %cmpf_2 : i1
    %if = scf.if %use -> (f32) {
      %constant_5 = arith.constant 1.0 : f32
      scf.yield %constant_5 : f32
    } else {
      %constant_6 = arith.constant -1.0 : f32
      scf.yield %constant_6 : f32
    }
    tt.store %x_ptr, %if : !tt.ptr<f32>
    tt.return
  }
}
