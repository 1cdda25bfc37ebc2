// import teeny_triton as tl
// from teeny_triton import Const, Ptr, f16, f32, i32, i64
// def k(x_ptr: Ptr[f32], n: i32, BLOCK: Const[int] = 16):
//     offsets = tl.arange(0, BLOCK)
//     total = tl.zeros((BLOCK,), f32)
//     for start in range(0, n, BLOCK):
//         total += tl.load(x_ptr + start + offsets)
//     tl.store(x_ptr + offsets, total)
module {
  tt.func public @k_entry_point(%x_ptr: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %offsets = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %constant = arith.constant 0.0 : f32
    %total = tt.splat %constant : f32 -> tensor<16xf32>
    %constant_1 = arith.constant 0 : i32
    %constant_2 = arith.constant 16 : i32
    %total_2 = scf.for %start = %constant_1 to %n step %constant_2 iter_args(%total_1 = %total) -> (tensor<16xf32>) : i32 {
      %addptr = tt.addptr %x_ptr, %start : !tt.ptr<f32>, i32
      %splat = tt.splat %addptr : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
      %addptr_1 = tt.addptr %splat, %offsets : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      %load = tt.load %addptr_1 : tensor<16x!tt.ptr<f32>>
      %total_3 = arith.addf %total_1, %load : tensor<16xf32>
      scf.yield %total_3 : tensor<16xf32>
    }
    %splat_1 = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %addptr_2 = tt.addptr %splat_1, %offsets : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    tt.store %addptr_2, %total_2 : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}
