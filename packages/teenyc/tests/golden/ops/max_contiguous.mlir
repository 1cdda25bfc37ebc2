// (x_ptr: Ptr[f32], n: i32)
// o = tl.max_contiguous(tl.multiple_of(tl.arange(0, 16) % n, 16), 16)
// tl.store(x_ptr + tl.max_contiguous(tl.load(x_ptr).to(i64) + o, [16]), 1.0)
module {
  tt.func public @max_contiguous_entry_point(%x_ptr: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %make_range = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %splat = tt.splat %n : i32 -> tensor<16xi32>
    %o = arith.remsi %make_range, %splat {tt.contiguity = dense<16> : tensor<1xi32>, tt.divisibility = dense<16> : tensor<1xi32>} : tensor<16xi32>
    %load = tt.load %x_ptr : !tt.ptr<f32>
    %fptosi = arith.fptosi %load : f32 to i64
    %extsi = arith.extsi %o : tensor<16xi32> to tensor<16xi64>
    %splat_1 = tt.splat %fptosi : i64 -> tensor<16xi64>
    %addi = arith.addi %splat_1, %extsi {tt.contiguity = dense<16> : tensor<1xi32>} : tensor<16xi64>
    %splat_2 = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %addptr = tt.addptr %splat_2, %addi : tensor<16x!tt.ptr<f32>>, tensor<16xi64>
    %constant = arith.constant 1.0 : f32
    %splat_3 = tt.splat %constant : f32 -> tensor<16xf32>
    tt.store %addptr, %splat_3 : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}
