// (x_ptr: Ptr[f16], m: i32, n: i32)
// d = tl.make_tensor_descriptor(x_ptr, [m, n], [n, 1], [8, 16], padding_option="nan")
// d.store([0, 16], d.load([8, n]))
module {
  tt.func public @make_tensor_descriptor_entry_point(%x_ptr: !tt.ptr<f16>, %m: i32, %n: i32) attributes {noinline = false} {
    %extsi = arith.extsi %n : i32 to i64
    %constant = arith.constant 1 : i32
    %extsi_1 = arith.extsi %constant : i32 to i64
    %make_tensor_descriptor = tt.make_tensor_descriptor %x_ptr, [%m, %n], [%extsi, %extsi_1] {padding = 2 : i32} : <f16>, <8x16xf16>
    %constant_1 = arith.constant 8 : i32
    %descriptor_load = tt.descriptor_load %make_tensor_descriptor[%constant_1, %n] : !tt.tensordesc<8x16xf16> -> tensor<8x16xf16>
    %constant_2 = arith.constant 0 : i32
    %constant_3 = arith.constant 16 : i32
    tt.descriptor_store %make_tensor_descriptor[%constant_2, %constant_3], %descriptor_load : !tt.tensordesc<8x16xf16>, tensor<8x16xf16>
    tt.return
  }
}
