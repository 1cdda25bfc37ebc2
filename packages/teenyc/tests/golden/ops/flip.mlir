// (x_ptr: Ptr[f32], out_ptr: Ptr[f32])
// o = tl.arange(0, 4)
// tl.store(out_ptr + o, tl.flip(tl.load(x_ptr + o)))
module {
  tt.func public @flip_entry_point(%x_ptr: !tt.ptr<f32>, %out_ptr: !tt.ptr<f32>) attributes {noinline = false} {
    %o = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %splat = tt.splat %out_ptr : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
    %addptr = tt.addptr %splat, %o : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
    %splat_1 = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
    %addptr_1 = tt.addptr %splat_1, %o : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
    %load = tt.load %addptr_1 : tensor<4x!tt.ptr<f32>>
    %bitcast = tt.bitcast %load : tensor<4xf32> -> tensor<4xi32>
    %reshape = tt.reshape %bitcast : tensor<4xi32> -> tensor<2x2xi32>
    %reduce = "tt.reduce"(%reshape) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %xori = arith.xori %a, %b : i32
      tt.reduce.return %xori : i32
    }) : (tensor<2x2xi32>) -> tensor<2xi32>
    %expand_dims = tt.expand_dims %reduce {axis = 0 : i32} : tensor<2xi32> -> tensor<1x2xi32>
    %broadcast = tt.broadcast %expand_dims : tensor<1x2xi32> -> tensor<2x2xi32>
    %xori_1 = arith.xori %reshape, %broadcast : tensor<2x2xi32>
    %reduce_1 = "tt.reduce"(%xori_1) <{axis = 1 : i32}> ({
    ^bb0(%a_1: i32, %b_1: i32):
      %xori_2 = arith.xori %a_1, %b_1 : i32
      tt.reduce.return %xori_2 : i32
    }) : (tensor<2x2xi32>) -> tensor<2xi32>
    %expand_dims_1 = tt.expand_dims %reduce_1 {axis = 1 : i32} : tensor<2xi32> -> tensor<2x1xi32>
    %broadcast_1 = tt.broadcast %expand_dims_1 : tensor<2x1xi32> -> tensor<2x2xi32>
    %xori_3 = arith.xori %xori_1, %broadcast_1 : tensor<2x2xi32>
    %reshape_1 = tt.reshape %xori_3 : tensor<2x2xi32> -> tensor<4xi32>
    %bitcast_1 = tt.bitcast %reshape_1 : tensor<4xi32> -> tensor<4xf32>
    tt.store %addptr, %bitcast_1 : tensor<4x!tt.ptr<f32>>
    tt.return
  }
}
