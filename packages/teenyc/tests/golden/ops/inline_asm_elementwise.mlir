// (x_ptr: Ptr[i32], n: i32)
// o = tl.arange(0, 16)
// x = tl.inline_asm_elementwise("add.u32 $0, $1, $2;", "=r,r,r", [o, n], i32, True, 1)
// y, z = tl.inline_asm_elementwise(
//     asm="mov.u32 $0, $2;\n\tmov.u32 $1, $2;", constraints="=r,=f,r", args=[x],
//     dtype=(i32, f32), is_pure=False, pack=1)
// clock = tl.inline_asm_elementwise("mov.u32 $0, %clock;", "=r", [], i32, False, 1)
// tl.store(x_ptr + o, y + z + clock)
module {
  tt.func public @inline_asm_elementwise_entry_point(%x_ptr: !tt.ptr<i32>, %n: i32) attributes {noinline = false} {
    %o = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %splat = tt.splat %n : i32 -> tensor<16xi32>
    %x = tt.elementwise_inline_asm "add.u32 $0, $1, $2;" {constraints = "=r,r,r", packed_element = 1 : i32, pure = true} %o, %splat : tensor<16xi32>, tensor<16xi32> -> tensor<16xi32>
    %y:2 = tt.elementwise_inline_asm "mov.u32 $0, $2;\0A\09mov.u32 $1, $2;" {constraints = "=r,=f,r", packed_element = 1 : i32, pure = false} %x : tensor<16xi32> -> tensor<16xi32>, tensor<16xf32>
    %clock = tt.elementwise_inline_asm "mov.u32 $0, %clock;" {constraints = "=r", packed_element = 1 : i32, pure = false} -> i32
    %splat_1 = tt.splat %x_ptr : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %addptr = tt.addptr %splat_1, %o : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %sitofp = arith.sitofp %y#0 : tensor<16xi32> to tensor<16xf32>
    %addf = arith.addf %sitofp, %y#1 : tensor<16xf32>
    %sitofp_1 = arith.sitofp %clock : i32 to f32
    %splat_2 = tt.splat %sitofp_1 : f32 -> tensor<16xf32>
    %addf_1 = arith.addf %addf, %splat_2 : tensor<16xf32>
    %fptosi = arith.fptosi %addf_1 : tensor<16xf32> to tensor<16xi32>
    tt.store %addptr, %fptosi : tensor<16x!tt.ptr<i32>>
    tt.return
  }
}
