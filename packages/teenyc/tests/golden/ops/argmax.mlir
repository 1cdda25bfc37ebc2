// (x_ptr: Ptr[f32], out_ptr: Ptr[i32])
// rows = tl.arange(0, 16)
// columns = tl.arange(0, 32)
// x = tl.load(x_ptr + rows[:, None] * 32 + columns[None, :])
// tl.store(out_ptr + rows, tl.argmax(x, 1))
// tl.store(out_ptr + columns, x.argmax(0, tie_break_left=False))
module {
  tt.func public @argmax_entry_point(%x_ptr: !tt.ptr<f32>, %out_ptr: !tt.ptr<i32>) attributes {noinline = false} {
    %rows = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %columns = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %expand_dims = tt.expand_dims %rows {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %constant = arith.constant 32 : i32
    %splat = tt.splat %constant : i32 -> tensor<16x1xi32>
    %muli = arith.muli %expand_dims, %splat : tensor<16x1xi32>
    %splat_1 = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %addptr = tt.addptr %splat_1, %muli : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %expand_dims_1 = tt.expand_dims %columns {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %broadcast = tt.broadcast %addptr : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
    %broadcast_1 = tt.broadcast %expand_dims_1 : tensor<1x32xi32> -> tensor<16x32xi32>
    %addptr_1 = tt.addptr %broadcast, %broadcast_1 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    %x = tt.load %addptr_1 : tensor<16x32x!tt.ptr<f32>>
    %splat_2 = tt.splat %out_ptr : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %addptr_2 = tt.addptr %splat_2, %rows : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %make_range = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %expand_dims_2 = tt.expand_dims %make_range {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %broadcast_2 = tt.broadcast %expand_dims_2 : tensor<1x32xi32> -> tensor<16x32xi32>
    %reduce:2 = "tt.reduce"(%x, %broadcast_2) <{axis = 1 : i32}> ({
    ^bb0(%value1: f32, %index1: i32, %value2: f32, %index2: i32):
      %maxnumf = arith.maxnumf %value1, %value2 : f32
      %cmpf = arith.cmpf oeq, %value1, %maxnumf : f32
      %cmpf_1 = arith.cmpf une, %value2, %maxnumf : f32
      %cmpi = arith.cmpi slt, %index1, %index2 : i32
      %ori = arith.ori %cmpf_1, %cmpi : i1
      %andi = arith.andi %cmpf, %ori : i1
      %select = arith.select %andi, %index1, %index2 : i32
      tt.reduce.return %maxnumf, %select : f32, i32
    }) : (tensor<16x32xf32>, tensor<16x32xi32>) -> (tensor<16xf32>, tensor<16xi32>)
    tt.store %addptr_2, %reduce#1 : tensor<16x!tt.ptr<i32>>
    %splat_3 = tt.splat %out_ptr : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
    %addptr_3 = tt.addptr %splat_3, %columns : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
    %make_range_1 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %expand_dims_3 = tt.expand_dims %make_range_1 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %broadcast_3 = tt.broadcast %expand_dims_3 : tensor<16x1xi32> -> tensor<16x32xi32>
    %reduce_2:2 = "tt.reduce"(%x, %broadcast_3) <{axis = 0 : i32}> ({
    ^bb0(%value1_1: f32, %index1_1: i32, %value2_1: f32, %index2_1: i32):
      %maxnumf_1 = arith.maxnumf %value1_1, %value2_1 : f32
      %cmpf_2 = arith.cmpf oeq, %value1_1, %maxnumf_1 : f32
      %select_1 = arith.select %cmpf_2, %index1_1, %index2_1 : i32
      tt.reduce.return %maxnumf_1, %select_1 : f32, i32
    }) : (tensor<16x32xf32>, tensor<16x32xi32>) -> (tensor<32xf32>, tensor<32xi32>)
    tt.store %addptr_3, %reduce_2#1 : tensor<32x!tt.ptr<i32>>
    tt.return
  }
}
