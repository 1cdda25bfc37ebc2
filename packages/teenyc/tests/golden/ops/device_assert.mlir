// (x_ptr: Ptr[i32], y_ptr: Ptr[i32], out_ptr: Ptr[i32])
// o = tl.arange(0, 16)
// tl.device_assert(o < 16, "in \"range\"")
// tl.device_assert(tl.load(x_ptr + o) > 0, mask=o < 8)
// tl.store(out_ptr, 1)
module {
  tt.func public @device_assert_entry_point(%x_ptr: !tt.ptr<i32>, %y_ptr: !tt.ptr<i32>, %out_ptr: !tt.ptr<i32>) attributes {noinline = false} {
    %o = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %constant = arith.constant 16 : i32
    %splat = tt.splat %constant : i32 -> tensor<16xi32>
    %cmpi = arith.cmpi slt, %o, %splat : tensor<16xi32>
    tt.assert %cmpi, "in \22range\22" : tensor<16xi1>
    %constant_1 = arith.constant 8 : i32
    %splat_1 = tt.splat %constant_1 : i32 -> tensor<16xi32>
    %cmpi_1 = arith.cmpi slt, %o, %splat_1 : tensor<16xi32>
    %splat_2 = tt.splat %x_ptr : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %addptr = tt.addptr %splat_2, %o : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %load = tt.load %addptr : tensor<16x!tt.ptr<i32>>
    %constant_2 = arith.constant 0 : i32
    %splat_3 = tt.splat %constant_2 : i32 -> tensor<16xi32>
    %cmpi_2 = arith.cmpi sgt, %load, %splat_3 : tensor<16xi32>
    %constant_3 = arith.constant true
    %splat_4 = tt.splat %constant_3 : i1 -> tensor<16xi1>
    %xori = arith.xori %cmpi_1, %splat_4 : tensor<16xi1>
    %ori = arith.ori %cmpi_2, %xori : tensor<16xi1>
    tt.assert %ori, "" : tensor<16xi1>
    %constant_4 = arith.constant 1 : i32
    tt.store %out_ptr, %constant_4 : !tt.ptr<i32>
    tt.return
  }
}
