// (out_ptr: Ptr[u64], seed: i32)
// z = tl.zeros((4,), i64)
// tl.store(out_ptr + tl.arange(0, 4), tl.philox(seed, z, z, z, z, n_rounds=2)[0])
module {
  tt.func public @philox_entry_point(%out_ptr: !tt.ptr<i64>, %seed: i32) attributes {noinline = false} {
    %constant = arith.constant 0 : i64
    %z = tt.splat %constant : i64 -> tensor<4xi64>
    %make_range = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %splat = tt.splat %out_ptr : !tt.ptr<i64> -> tensor<4x!tt.ptr<i64>>
    %addptr = tt.addptr %splat, %make_range : tensor<4x!tt.ptr<i64>>, tensor<4xi32>
    %extsi = arith.extsi %seed : i32 to i64
    %constant_1 = arith.constant 0 : i64
    %splat_1 = tt.splat %constant_1 : i64 -> tensor<1xi64>
    %constant_2 = arith.constant -3865633965929787049 : i64
    %splat_2 = tt.splat %constant_2 : i64 -> tensor<4xi64>
    %mulhiui = tt.mulhiui %splat_2, %z : tensor<4xi64>
    %xori = arith.xori %mulhiui, %z : tensor<4xi64>
    %splat_3 = tt.splat %extsi : i64 -> tensor<4xi64>
    %xori_1 = arith.xori %xori, %splat_3 : tensor<4xi64>
    %constant_3 = arith.constant -3249550476889527149 : i64
    %splat_4 = tt.splat %constant_3 : i64 -> tensor<4xi64>
    %mulhiui_1 = tt.mulhiui %splat_4, %z : tensor<4xi64>
    %xori_2 = arith.xori %mulhiui_1, %z : tensor<4xi64>
    %broadcast = tt.broadcast %splat_1 : tensor<1xi64> -> tensor<4xi64>
    %xori_3 = arith.xori %xori_2, %broadcast : tensor<4xi64>
    %constant_4 = arith.constant -3865633965929787049 : i64
    %splat_5 = tt.splat %constant_4 : i64 -> tensor<4xi64>
    %muli = arith.muli %splat_5, %z : tensor<4xi64>
    %constant_5 = arith.constant -3249550476889527149 : i64
    %splat_6 = tt.splat %constant_5 : i64 -> tensor<4xi64>
    %muli_1 = arith.muli %splat_6, %z : tensor<4xi64>
    %constant_6 = arith.constant -7046029254386353131 : i64
    %addi = arith.addi %extsi, %constant_6 : i64
    %constant_7 = arith.constant -4942790177534073029 : i64
    %splat_7 = tt.splat %constant_7 : i64 -> tensor<1xi64>
    %addi_1 = arith.addi %splat_1, %splat_7 : tensor<1xi64>
    %constant_8 = arith.constant -3865633965929787049 : i64
    %splat_8 = tt.splat %constant_8 : i64 -> tensor<4xi64>
    %mulhiui_2 = tt.mulhiui %splat_8, %xori_3 : tensor<4xi64>
    %xori_4 = arith.xori %mulhiui_2, %muli : tensor<4xi64>
    %splat_9 = tt.splat %addi : i64 -> tensor<4xi64>
    %xori_5 = arith.xori %xori_4, %splat_9 : tensor<4xi64>
    %constant_9 = arith.constant -3249550476889527149 : i64
    %splat_10 = tt.splat %constant_9 : i64 -> tensor<4xi64>
    %mulhiui_3 = tt.mulhiui %splat_10, %xori_1 : tensor<4xi64>
    %xori_6 = arith.xori %mulhiui_3, %muli_1 : tensor<4xi64>
    %broadcast_1 = tt.broadcast %addi_1 : tensor<1xi64> -> tensor<4xi64>
    %xori_7 = arith.xori %xori_6, %broadcast_1 : tensor<4xi64>
    %constant_10 = arith.constant -3865633965929787049 : i64
    %splat_11 = tt.splat %constant_10 : i64 -> tensor<4xi64>
    %muli_2 = arith.muli %splat_11, %xori_3 : tensor<4xi64>
    %constant_11 = arith.constant -3249550476889527149 : i64
    %splat_12 = tt.splat %constant_11 : i64 -> tensor<4xi64>
    %muli_3 = arith.muli %splat_12, %xori_1 : tensor<4xi64>
    %constant_12 = arith.constant -7046029254386353131 : i64
    %addi_2 = arith.addi %addi, %constant_12 : i64
    %constant_13 = arith.constant -4942790177534073029 : i64
    %splat_13 = tt.splat %constant_13 : i64 -> tensor<1xi64>
    %addi_3 = arith.addi %addi_1, %splat_13 : tensor<1xi64>
    tt.store %addptr, %xori_5 : tensor<4x!tt.ptr<i64>>
    tt.return
  }
}
