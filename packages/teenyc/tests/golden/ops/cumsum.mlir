// (x_ptr: Ptr[i8], out_ptr: Ptr[i32])
// rows = tl.arange(0, 16)
// columns = tl.arange(0, 32)
// x = tl.load(x_ptr + rows[:, None] * 32 + columns[None, :])
// tl.store(out_ptr + rows[:, None] * 32 + columns[None, :], tl.cumsum(x, 1))
module {
  tt.func public @cumsum_entry_point(%x_ptr: !tt.ptr<i8>, %out_ptr: !tt.ptr<i32>) attributes {noinline = false} {
    %rows = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %columns = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %expand_dims = tt.expand_dims %rows {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %constant = arith.constant 32 : i32
    %splat = tt.splat %constant : i32 -> tensor<16x1xi32>
    %muli = arith.muli %expand_dims, %splat : tensor<16x1xi32>
    %splat_1 = tt.splat %x_ptr : !tt.ptr<i8> -> tensor<16x1x!tt.ptr<i8>>
    %addptr = tt.addptr %splat_1, %muli : tensor<16x1x!tt.ptr<i8>>, tensor<16x1xi32>
    %expand_dims_1 = tt.expand_dims %columns {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %broadcast = tt.broadcast %addptr : tensor<16x1x!tt.ptr<i8>> -> tensor<16x32x!tt.ptr<i8>>
    %broadcast_1 = tt.broadcast %expand_dims_1 : tensor<1x32xi32> -> tensor<16x32xi32>
    %addptr_1 = tt.addptr %broadcast, %broadcast_1 : tensor<16x32x!tt.ptr<i8>>, tensor<16x32xi32>
    %x = tt.load %addptr_1 : tensor<16x32x!tt.ptr<i8>>
    %expand_dims_2 = tt.expand_dims %rows {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %constant_1 = arith.constant 32 : i32
    %splat_2 = tt.splat %constant_1 : i32 -> tensor<16x1xi32>
    %muli_1 = arith.muli %expand_dims_2, %splat_2 : tensor<16x1xi32>
    %splat_3 = tt.splat %out_ptr : !tt.ptr<i32> -> tensor<16x1x!tt.ptr<i32>>
    %addptr_2 = tt.addptr %splat_3, %muli_1 : tensor<16x1x!tt.ptr<i32>>, tensor<16x1xi32>
    %expand_dims_3 = tt.expand_dims %columns {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %broadcast_2 = tt.broadcast %addptr_2 : tensor<16x1x!tt.ptr<i32>> -> tensor<16x32x!tt.ptr<i32>>
    %broadcast_3 = tt.broadcast %expand_dims_3 : tensor<1x32xi32> -> tensor<16x32xi32>
    %addptr_3 = tt.addptr %broadcast_2, %broadcast_3 : tensor<16x32x!tt.ptr<i32>>, tensor<16x32xi32>
    %extsi = arith.extsi %x : tensor<16x32xi8> to tensor<16x32xi32>
    %scan = "tt.scan"(%extsi) <{axis = 1 : i32, reverse = false}> ({
    ^bb0(%a: i32, %b: i32):
      %addi = arith.addi %a, %b : i32
      tt.scan.return %addi : i32
    }) : (tensor<16x32xi32>) -> tensor<16x32xi32>
    tt.store %addptr_3, %scan : tensor<16x32x!tt.ptr<i32>>
    tt.return
  }
}
