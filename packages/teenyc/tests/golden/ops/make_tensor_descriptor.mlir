// (x_ptr: Ptr[f16], m: i32, n: i32)
// d = tl.make_tensor_descriptor(x_ptr, [m, n], [n, 1], [8, 16], padding_option="nan")
// for i in range(0, m):
//     d.store([0, 16], d.load([8, i]))
//     d = tl.make_tensor_descriptor(x_ptr + i * 8, [m, n], [n, 1], [8, 16])
// if m > n:
//     d = tl.make_tensor_descriptor(x_ptr, [n, m], [m, 1], [8, 16])
// d.store([0, 0], tl.zeros((8, 16), f16))
module {
  tt.func public @make_tensor_descriptor_entry_point(%x_ptr: !tt.ptr<f16>, %m: i32, %n: i32) attributes {noinline = false} {
    %extsi = arith.extsi %n : i32 to i64
    %constant = arith.constant 1 : i32
    %extsi_1 = arith.extsi %constant : i32 to i64
    %make_tensor_descriptor = tt.make_tensor_descriptor %x_ptr, [%m, %n], [%extsi, %extsi_1] {padding = 2 : i32} : <f16>, <8x16xf16>
    %constant_1 = arith.constant 0 : i32
    %constant_2 = arith.constant 1 : i32
    %d_5:5 = scf.for %i = %constant_1 to %m step %constant_2 iter_args(%d = %make_tensor_descriptor, %d_1 = %m, %d_2 = %n, %d_3 = %extsi, %d_4 = %extsi_1) -> (!tt.tensordesc<8x16xf16>, i32, i32, i64, i64) : i32 {
      %constant_3 = arith.constant 8 : i32
      %descriptor_load = tt.descriptor_load %d[%constant_3, %i] : !tt.tensordesc<8x16xf16> -> tensor<8x16xf16>
      %constant_4 = arith.constant 0 : i32
      %constant_5 = arith.constant 16 : i32
      tt.descriptor_store %d[%constant_4, %constant_5], %descriptor_load : !tt.tensordesc<8x16xf16>, tensor<8x16xf16>
      %constant_6 = arith.constant 8 : i32
      %muli = arith.muli %i, %constant_6 : i32
      %addptr = tt.addptr %x_ptr, %muli : !tt.ptr<f16>, i32
      %extsi_2 = arith.extsi %n : i32 to i64
      %constant_7 = arith.constant 1 : i32
      %extsi_3 = arith.extsi %constant_7 : i32 to i64
      %make_tensor_descriptor_1 = tt.make_tensor_descriptor %addptr, [%m, %n], [%extsi_2, %extsi_3] : <f16>, <8x16xf16>
      scf.yield %make_tensor_descriptor_1, %m, %n, %extsi_2, %extsi_3 : !tt.tensordesc<8x16xf16>, i32, i32, i64, i64
    }
    %cmpi = arith.cmpi sgt, %m, %n : i32
    %d_10:5 = scf.if %cmpi -> (!tt.tensordesc<8x16xf16>, i32, i32, i64, i64) {
      %extsi_4 = arith.extsi %m : i32 to i64
      %constant_8 = arith.constant 1 : i32
      %extsi_5 = arith.extsi %constant_8 : i32 to i64
      %make_tensor_descriptor_2 = tt.make_tensor_descriptor %x_ptr, [%n, %m], [%extsi_4, %extsi_5] : <f16>, <8x16xf16>
      scf.yield %make_tensor_descriptor_2, %n, %m, %extsi_4, %extsi_5 : !tt.tensordesc<8x16xf16>, i32, i32, i64, i64
    } else {
      scf.yield %d_5#0, %d_5#1, %d_5#2, %d_5#3, %d_5#4 : !tt.tensordesc<8x16xf16>, i32, i32, i64, i64
    }
    %constant_9 = arith.constant 0.0 : f16
    %splat = tt.splat %constant_9 : f16 -> tensor<8x16xf16>
    %constant_10 = arith.constant 0 : i32
    %constant_11 = arith.constant 0 : i32
    tt.descriptor_store %d_10#0[%constant_10, %constant_11], %splat : !tt.tensordesc<8x16xf16>, tensor<8x16xf16>
    tt.return
  }
}
