// (x_ptr: Ptr[i32], y_ptr: Ptr[i32], out_ptr: Ptr[i32])
// n = tl.load(x_ptr)
// while tl.condition(n > 0, disable_licm=True):
//     n -= tl.load(y_ptr)
// for i in tl.range(0, n, disable_licm=True):
//     tl.store(out_ptr + i, n)
module {
  tt.func public @condition_entry_point(%x_ptr: !tt.ptr<i32>, %y_ptr: !tt.ptr<i32>, %out_ptr: !tt.ptr<i32>) attributes {noinline = false} {
    %n = tt.load %x_ptr : !tt.ptr<i32>
    %constant = arith.constant 0 : i32
    %cmpi = arith.cmpi sgt, %n, %constant : i32
    %n_2 = scf.while (%n_1 = %n) : (i32) -> (i32) {
      %constant_1 = arith.constant 0 : i32
      %cmpi_1 = arith.cmpi sgt, %n_1, %constant_1 : i32
      scf.condition(%cmpi_1) %n_1 : i32
    } do {
    ^bb0(%n_3: i32):
      %load = tt.load %y_ptr : !tt.ptr<i32>
      %n_4 = arith.subi %n_3, %load : i32
      scf.yield %n_4 : i32
    } attributes {llvm.loop_annotation = #llvm.loop_annotation<licm = <disable = true>>}
    %constant_2 = arith.constant 0 : i32
    %constant_3 = arith.constant 1 : i32
    scf.for %i = %constant_2 to %n_2 step %constant_3 : i32 {
      %addptr = tt.addptr %out_ptr, %i : !tt.ptr<i32>, i32
      tt.store %addptr, %n_2 : !tt.ptr<i32>
      scf.yield
    } {llvm.loop_annotation = #llvm.loop_annotation<licm = <disable = true>>}
    tt.return
  }
}
