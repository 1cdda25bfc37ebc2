// import teeny_triton as tl
// from teeny_triton import Const, Ptr, f16, f32, i32, i64
// def k(x_ptr: Ptr[f32], n: i32, SHAPE: Const[tuple] = (8, 16, 4)):
//     a, b, c = SHAPE
//     x = tl.arange(0, a) + tl.arange(0, SHAPE[0])
//     (p, q), r = (n, 2), x
//     tl.store(x_ptr + r, p + q + len(SHAPE))
module {
  tt.func public @k_entry_point(%x_ptr: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %make_range = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %make_range_1 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %x = arith.addi %make_range, %make_range_1 : tensor<8xi32>
    %splat = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    %addptr = tt.addptr %splat, %x : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %constant = arith.constant 2 : i32
    %addi = arith.addi %n, %constant : i32
    %constant_1 = arith.constant 3 : i32
    %addi_1 = arith.addi %addi, %constant_1 : i32
    %splat_1 = tt.splat %addi_1 : i32 -> tensor<8xi32>
    %sitofp = arith.sitofp %splat_1 : tensor<8xi32> to tensor<8xf32>
    tt.store %addptr, %sitofp : tensor<8x!tt.ptr<f32>>
    tt.return
  }
}
