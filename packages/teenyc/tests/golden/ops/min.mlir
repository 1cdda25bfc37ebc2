// (x_ptr: Ptr[u32], out_ptr: Ptr[u32])
// rows = tl.arange(0, 16)
// columns = tl.arange(0, 32)
// x = tl.load(x_ptr + rows[:, None] * 32 + columns[None, :])
// tl.store(out_ptr + rows, x.min(axis=1))
// least, place = tl.min(x, 1, return_indices=True)
// tl.store(out_ptr + rows, least + place)
module {
  tt.func public @min_entry_point(%x_ptr: !tt.ptr<i32>, %out_ptr: !tt.ptr<i32>) attributes {noinline = false} {
    %rows = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %columns = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %expand_dims = tt.expand_dims %rows {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %constant = arith.constant 32 : i32
    %splat = tt.splat %constant : i32 -> tensor<16x1xi32>
    %muli = arith.muli %expand_dims, %splat : tensor<16x1xi32>
    %splat_1 = tt.splat %x_ptr : !tt.ptr<i32> -> tensor<16x1x!tt.ptr<i32>>
    %addptr = tt.addptr %splat_1, %muli : tensor<16x1x!tt.ptr<i32>>, tensor<16x1xi32>
    %expand_dims_1 = tt.expand_dims %columns {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %broadcast = tt.broadcast %addptr : tensor<16x1x!tt.ptr<i32>> -> tensor<16x32x!tt.ptr<i32>>
    %broadcast_1 = tt.broadcast %expand_dims_1 : tensor<1x32xi32> -> tensor<16x32xi32>
    %addptr_1 = tt.addptr %broadcast, %broadcast_1 : tensor<16x32x!tt.ptr<i32>>, tensor<16x32xi32>
    %x = tt.load %addptr_1 : tensor<16x32x!tt.ptr<i32>>
    %splat_2 = tt.splat %out_ptr : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %addptr_2 = tt.addptr %splat_2, %rows : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %reduce = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%x_1: i32, %y: i32):
      %minui = arith.minui %x_1, %y : i32
      tt.reduce.return %minui : i32
    }) : (tensor<16x32xi32>) -> tensor<16xi32>
    tt.store %addptr_2, %reduce : tensor<16x!tt.ptr<i32>>
    %make_range = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %expand_dims_2 = tt.expand_dims %make_range {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %broadcast_2 = tt.broadcast %expand_dims_2 : tensor<1x32xi32> -> tensor<16x32xi32>
    %least:2 = "tt.reduce"(%x, %broadcast_2) <{axis = 1 : i32}> ({
    ^bb0(%value1: i32, %index1: i32, %value2: i32, %index2: i32):
      %cmpi = arith.cmpi ult, %value1, %value2 : i32
      %cmpi_1 = arith.cmpi eq, %value1, %value2 : i32
      %cmpi_2 = arith.cmpi slt, %index1, %index2 : i32
      %andi = arith.andi %cmpi_1, %cmpi_2 : i1
      %ori = arith.ori %cmpi, %andi : i1
      %select = arith.select %ori, %value1, %value2 : i32
      %select_1 = arith.select %ori, %index1, %index2 : i32
      tt.reduce.return %select, %select_1 : i32, i32
    }) : (tensor<16x32xi32>, tensor<16x32xi32>) -> (tensor<16xi32>, tensor<16xi32>)
    %splat_3 = tt.splat %out_ptr : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %addptr_3 = tt.addptr %splat_3, %rows : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %addi = arith.addi %least#0, %least#1 : tensor<16xi32>
    tt.store %addptr_3, %addi : tensor<16x!tt.ptr<i32>>
    tt.return
  }
}
