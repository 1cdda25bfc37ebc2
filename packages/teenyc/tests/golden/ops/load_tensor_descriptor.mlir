// (x_ptr: Ptr[f32], n: i32, s: i64)
// d = tl.make_tensor_descriptor(x_ptr, (n, 64, 64), (s, 64, 1), (2, 8, 16))
// x = tl.load_tensor_descriptor(d, (n, 0, 16))
// e = tl.make_tensor_descriptor(x_ptr, (n, 64), (64, 1), (1, 32))
// e.scatter(e.gather(tl.arange(0, 8), n), tl.arange(8, 16), 0)
// tl.store(x_ptr, tl.sum(x))
module {
  tt.func public @load_tensor_descriptor_entry_point(%x_ptr: !tt.ptr<f32>, %n: i32, %s: i64) attributes {noinline = false} {
    %constant = arith.constant 64 : i32
    %constant_1 = arith.constant 64 : i32
    %constant_2 = arith.constant 64 : i32
    %extsi = arith.extsi %constant_2 : i32 to i64
    %constant_3 = arith.constant 1 : i32
    %extsi_1 = arith.extsi %constant_3 : i32 to i64
    %make_tensor_descriptor = tt.make_tensor_descriptor %x_ptr, [%n, %constant, %constant_1], [%s, %extsi, %extsi_1] : <f32>, <2x8x16xf32>
    %constant_4 = arith.constant 0 : i32
    %constant_5 = arith.constant 16 : i32
    %x = tt.descriptor_load %make_tensor_descriptor[%n, %constant_4, %constant_5] : !tt.tensordesc<2x8x16xf32> -> tensor<2x8x16xf32>
    %constant_6 = arith.constant 64 : i32
    %constant_7 = arith.constant 64 : i32
    %extsi_2 = arith.extsi %constant_7 : i32 to i64
    %constant_8 = arith.constant 1 : i32
    %extsi_3 = arith.extsi %constant_8 : i32 to i64
    %make_tensor_descriptor_1 = tt.make_tensor_descriptor %x_ptr, [%n, %constant_6], [%extsi_2, %extsi_3] : <f32>, <1x32xf32>
    %make_range = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %descriptor_gather = tt.descriptor_gather %make_tensor_descriptor_1[%make_range, %n] : (!tt.tensordesc<1x32xf32>, tensor<8xi32>, i32) -> tensor<8x32xf32>
    %make_range_1 = tt.make_range {end = 16 : i32, start = 8 : i32} : tensor<8xi32>
    %constant_9 = arith.constant 0 : i32
    tt.descriptor_scatter %make_tensor_descriptor_1[%make_range_1, %constant_9], %descriptor_gather : !tt.tensordesc<1x32xf32>, tensor<8xi32>, i32, tensor<8x32xf32>
    %reshape = tt.reshape %x allow_reorder : tensor<2x8x16xf32> -> tensor<256xf32>
    %reduce = "tt.reduce"(%reshape) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %addf = arith.addf %a, %b : f32
      tt.reduce.return %addf : f32
    }) : (tensor<256xf32>) -> f32
    tt.store %x_ptr, %reduce : !tt.ptr<f32>
    tt.return
  }
}
