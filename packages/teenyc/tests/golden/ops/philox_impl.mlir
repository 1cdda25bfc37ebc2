// (out_ptr: Ptr[u32], key: u32)
// z = tl.zeros((4,), u32)
// tl.store(out_ptr + tl.arange(0, 4), tl.philox_impl(z, z, z, z, key, key, 1)[1])
module {
  tt.func public @philox_impl_entry_point(%out_ptr: !tt.ptr<i32>, %key: i32) attributes {noinline = false} {
    %constant = arith.constant 0 : i32
    %z = tt.splat %constant : i32 -> tensor<4xi32>
    %make_range = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %splat = tt.splat %out_ptr : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
    %addptr = tt.addptr %splat, %make_range : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
    %constant_1 = arith.constant -845247145 : i32
    %splat_1 = tt.splat %constant_1 : i32 -> tensor<4xi32>
    %mulhiui = tt.mulhiui %splat_1, %z : tensor<4xi32>
    %xori = arith.xori %mulhiui, %z : tensor<4xi32>
    %splat_2 = tt.splat %key : i32 -> tensor<4xi32>
    %xori_1 = arith.xori %xori, %splat_2 : tensor<4xi32>
    %constant_2 = arith.constant -766435501 : i32
    %splat_3 = tt.splat %constant_2 : i32 -> tensor<4xi32>
    %mulhiui_1 = tt.mulhiui %splat_3, %z : tensor<4xi32>
    %xori_2 = arith.xori %mulhiui_1, %z : tensor<4xi32>
    %splat_4 = tt.splat %key : i32 -> tensor<4xi32>
    %xori_3 = arith.xori %xori_2, %splat_4 : tensor<4xi32>
    %constant_3 = arith.constant -845247145 : i32
    %splat_5 = tt.splat %constant_3 : i32 -> tensor<4xi32>
    %muli = arith.muli %splat_5, %z : tensor<4xi32>
    %constant_4 = arith.constant -766435501 : i32
    %splat_6 = tt.splat %constant_4 : i32 -> tensor<4xi32>
    %muli_1 = arith.muli %splat_6, %z : tensor<4xi32>
    %constant_5 = arith.constant -1640531527 : i32
    %addi = arith.addi %key, %constant_5 : i32
    %constant_6 = arith.constant -1150833019 : i32
    %addi_1 = arith.addi %key, %constant_6 : i32
    tt.store %addptr, %muli : tensor<4x!tt.ptr<i32>>
    tt.return
  }
}
