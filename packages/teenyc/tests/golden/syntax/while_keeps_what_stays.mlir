// import teeny_triton as tl
// from teeny_triton import Const, Ptr, f16, f32, i32, i64
// def k(x_ptr: Ptr[i32], n: i32):
//     limit = tl.load(x_ptr)
//     i = n
//     while i < limit:
//         limit = limit
//         i *= 2
//     tl.store(x_ptr, i)
module {
  tt.func public @k_entry_point(%x_ptr: !tt.ptr<i32>, %n: i32) attributes {noinline = false} {
    %limit = tt.load %x_ptr : !tt.ptr<i32>
    %i_1 = scf.while (%i = %n) : (i32) -> (i32) {
      %cmpi = arith.cmpi slt, %i, %limit : i32
      scf.condition(%cmpi) %i : i32
    } do {
    ^bb0(%i_2: i32):
      %constant = arith.constant 2 : i32
      %i_3 = arith.muli %i_2, %constant : i32
      scf.yield %i_3 : i32
    }
    tt.store %x_ptr, %i_1 : !tt.ptr<i32>
    tt.return
  }
}
