// (i_ptr: Ptr[i32], n: i32)
// o = tl.arange(0, 16)
// found = tl.atomic_poll(i_ptr + o, n, sem="relaxed", scope="sys", timeout_ns=1000)
// tl.store(i_ptr + o, found)
// tl.store(i_ptr, tl.atomic_poll(i_ptr, 1))
module {
  tt.func public @atomic_poll_entry_point(%i_ptr: !tt.ptr<i32>, %n: i32) attributes {noinline = false} {
    %o = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %splat = tt.splat %i_ptr : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %addptr = tt.addptr %splat, %o : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %constant = arith.constant true
    %splat_1 = tt.splat %constant : i1 -> tensor<16xi1>
    %constant_1 = arith.constant 0 : i32
    %splat_2 = tt.splat %constant_1 : i32 -> tensor<16xi32>
    %atomic_load = tt.atomic_load relaxed, sys, %addptr, %splat_1 : (tensor<16x!tt.ptr<i32>>, tensor<16xi1>) -> tensor<16xi32>
    %splat_3 = tt.splat %n : i32 -> tensor<16xi32>
    %cmpi = arith.cmpi eq, %atomic_load, %splat_3 : tensor<16xi32>
    %timer = tt.elementwise_inline_asm "mov.u64 $0, %globaltimer;" {constraints = "=l", packed_element = 1 : i32, pure = false} -> i64
    %found_1 = scf.while (%found = %cmpi) : (tensor<16xi1>) -> (tensor<16xi1>) {
      %constant_2 = arith.constant true
      %splat_4 = tt.splat %constant_2 : i1 -> tensor<16xi1>
      %xori = arith.xori %found, %splat_4 : tensor<16xi1>
      %reduce = "tt.reduce"(%xori) <{axis = 0 : i32}> ({
      ^bb0(%a: i1, %b: i1):
        %ori = arith.ori %a, %b : i1
        tt.reduce.return %ori : i1
      }) : (tensor<16xi1>) -> i1
      %timer_1 = tt.elementwise_inline_asm "mov.u64 $0, %globaltimer;" {constraints = "=l", packed_element = 1 : i32, pure = false} -> i64
      %subi = arith.subi %timer_1, %timer : i64
      %constant_3 = arith.constant 1000 : i64
      %cmpi_1 = arith.cmpi slt, %subi, %constant_3 : i64
      %andi = arith.andi %reduce, %cmpi_1 : i1
      scf.condition(%andi) %found : tensor<16xi1>
    } do {
    ^bb0(%found_2: tensor<16xi1>):
      %constant_4 = arith.constant true
      %splat_5 = tt.splat %constant_4 : i1 -> tensor<16xi1>
      %constant_5 = arith.constant 0 : i32
      %splat_6 = tt.splat %constant_5 : i32 -> tensor<16xi32>
      %atomic_load_1 = tt.atomic_load relaxed, sys, %addptr, %splat_5 : (tensor<16x!tt.ptr<i32>>, tensor<16xi1>) -> tensor<16xi32>
      %splat_7 = tt.splat %n : i32 -> tensor<16xi32>
      %cmpi_2 = arith.cmpi eq, %atomic_load_1, %splat_7 : tensor<16xi32>
      %ori_1 = arith.ori %found_2, %cmpi_2 : tensor<16xi1>
      scf.yield %ori_1 : tensor<16xi1>
    }
    %splat_8 = tt.splat %i_ptr : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %addptr_1 = tt.addptr %splat_8, %o : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %extui = arith.extui %found_1 : tensor<16xi1> to tensor<16xi32>
    tt.store %addptr_1, %extui : tensor<16x!tt.ptr<i32>>
    %constant_6 = arith.constant true
    %constant_7 = arith.constant 0 : i32
    %atomic_load_2 = tt.atomic_load acquire, gpu, %i_ptr, %constant_6 : (!tt.ptr<i32>, i1) -> i32
    %constant_8 = arith.constant 1 : i32
    %cmpi_3 = arith.cmpi eq, %atomic_load_2, %constant_8 : i32
    %found_4 = scf.while (%found_3 = %cmpi_3) : (i1) -> (i1) {
      %extui_1 = arith.extui %found_3 : i1 to i32
      %constant_9 = arith.constant 0 : i32
      %cmpi_4 = arith.cmpi eq, %extui_1, %constant_9 : i32
      scf.condition(%cmpi_4) %found_3 : i1
    } do {
    ^bb0(%found_5: i1):
      %constant_10 = arith.constant true
      %constant_11 = arith.constant 0 : i32
      %atomic_load_3 = tt.atomic_load acquire, gpu, %i_ptr, %constant_10 : (!tt.ptr<i32>, i1) -> i32
      %constant_12 = arith.constant 1 : i32
      %cmpi_5 = arith.cmpi eq, %atomic_load_3, %constant_12 : i32
      %ori_2 = arith.ori %found_5, %cmpi_5 : i1
      scf.yield %ori_2 : i1
    }
    %extui_2 = arith.extui %found_4 : i1 to i32
    tt.store %i_ptr, %extui_2 : !tt.ptr<i32>
    tt.return
  }
}
