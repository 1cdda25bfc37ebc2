// (x_ptr: Ptr[f32], i_ptr: Ptr[i32], n: i32)
// d = tl.make_tensor_descriptor(x_ptr, (n,), (1,), (64,))
// tl.store_tensor_descriptor(d, [n], tl.zeros((64,), f16))
// d.atomic_add([0], tl.full((64,), 1, f32))
// e = tl.make_tensor_descriptor(i_ptr, (n, n), (n, 1), (8, 8))
// tl.static_assert(e.block_shape[1] == 8 and e.dtype == i32)
// e.atomic_max([0, 8], tl.full((8, 8), e.shape[0], i32))
// e.atomic_xor([0, 8], tl.full((8, 8), e.strides[0], i32))
module {
  tt.func public @store_tensor_descriptor_entry_point(%x_ptr: !tt.ptr<f32>, %i_ptr: !tt.ptr<i32>, %n: i32) attributes {noinline = false} {
    %constant = arith.constant 1 : i32
    %extsi = arith.extsi %constant : i32 to i64
    %make_tensor_descriptor = tt.make_tensor_descriptor %x_ptr, [%n], [%extsi] : <f32>, <64xf32>
    %constant_1 = arith.constant 0.0 : f16
    %splat = tt.splat %constant_1 : f16 -> tensor<64xf16>
    %extf = arith.extf %splat : tensor<64xf16> to tensor<64xf32>
    tt.descriptor_store %make_tensor_descriptor[%n], %extf : !tt.tensordesc<64xf32>, tensor<64xf32>
    %constant_2 = arith.constant 1.0 : f32
    %splat_1 = tt.splat %constant_2 : f32 -> tensor<64xf32>
    %constant_3 = arith.constant 0 : i32
    tt.descriptor_reduce add, %make_tensor_descriptor[%constant_3], %splat_1 : !tt.tensordesc<64xf32>, tensor<64xf32>
    %extsi_1 = arith.extsi %n : i32 to i64
    %constant_4 = arith.constant 1 : i32
    %extsi_2 = arith.extsi %constant_4 : i32 to i64
    %make_tensor_descriptor_1 = tt.make_tensor_descriptor %i_ptr, [%n, %n], [%extsi_1, %extsi_2] : <i32>, <8x8xsi32>
    %splat_2 = tt.splat %n : i32 -> tensor<8x8xi32>
    %constant_5 = arith.constant 0 : i32
    %constant_6 = arith.constant 8 : i32
    tt.descriptor_reduce max, %make_tensor_descriptor_1[%constant_5, %constant_6], %splat_2 : !tt.tensordesc<8x8xsi32>, tensor<8x8xi32>
    %trunci = arith.trunci %extsi_1 : i64 to i32
    %splat_3 = tt.splat %trunci : i32 -> tensor<8x8xi32>
    %constant_7 = arith.constant 0 : i32
    %constant_8 = arith.constant 8 : i32
    tt.descriptor_reduce xor, %make_tensor_descriptor_1[%constant_7, %constant_8], %splat_3 : !tt.tensordesc<8x8xsi32>, tensor<8x8xi32>
    tt.return
  }
}
