// (x_ptr: Ptr[f32], out_ptr: Ptr[f32])
// x = tl.load(x_ptr)
// tl.store(out_ptr, tl.expect_zero(x, x < 1.0))
module {
  tt.func public @expect_zero_entry_point(%x_ptr: !tt.ptr<f32>, %out_ptr: !tt.ptr<f32>) attributes {noinline = false} {
    %x = tt.load %x_ptr : !tt.ptr<f32>
    %constant = arith.constant 1.0 : f32
    %cmpf = arith.cmpf olt, %x, %constant : f32
    %constant_1 = arith.constant 0.0 : f32
    %cmpf_1 = arith.cmpf oeq, %x, %constant_1 : f32
    %constant_2 = arith.constant true
    %xori = arith.xori %cmpf, %constant_2 : i1
    %ori = arith.ori %cmpf_1, %xori : i1
    tt.assert %ori, "expect_zero expected x == 0 where mask is true" : i1
    tt.store %out_ptr, %x : !tt.ptr<f32>
    tt.return
  }
}
