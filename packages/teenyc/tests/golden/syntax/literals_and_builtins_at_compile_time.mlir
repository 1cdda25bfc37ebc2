// import teeny_triton as tl
// from teeny_triton import Const, Ptr, f16, f32, i32, i64
// def k(x_ptr: Ptr[f32], n: i32, BLOCK: Const[int] = 100):
//     half = BLOCK // 3 % 7 - (-2) ** 2
//     label = f"{BLOCK:>4}|{half}"
//     tl.static_assert(label == " 100|1", f"got {label}")
//     assert BLOCK > 3, "too small"
//     x = max(half, 5, min(2, n)) + abs(-3) + int(2.9) + bool("")
//     tl.store(x_ptr + x, float("inf"))
module {
  tt.func public @k_entry_point(%x_ptr: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %constant = arith.constant 2 : i32
    %minsi = arith.minsi %constant, %n : i32
    %constant_1 = arith.constant 1 : i32
    %constant_2 = arith.constant 5 : i32
    %maxsi = arith.maxsi %constant_1, %constant_2 : i32
    %maxsi_1 = arith.maxsi %maxsi, %minsi : i32
    %constant_3 = arith.constant 3 : i32
    %addi = arith.addi %maxsi_1, %constant_3 : i32
    %constant_4 = arith.constant 2 : i32
    %addi_1 = arith.addi %addi, %constant_4 : i32
    %constant_5 = arith.constant 0 : i32
    %x = arith.addi %addi_1, %constant_5 : i32
    %addptr = tt.addptr %x_ptr, %x : !tt.ptr<f32>, i32
    %constant_6 = arith.constant 0x7F800000 : f32
    tt.store %addptr, %constant_6 : !tt.ptr<f32>
    tt.return
  }
}
