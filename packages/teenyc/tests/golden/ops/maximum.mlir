// (x_ptr: Ptr[f32], y_ptr: Ptr[f32], out_ptr: Ptr[f32])
// x, y = tl.load(x_ptr), tl.load(y_ptr)
// tl.store(out_ptr, tl.maximum(x, y))
// tl.store(out_ptr, tl.maximum(x, 0.0, propagate_nan=tl.PropagateNan.ALL))
module {
  tt.func public @maximum_entry_point(%x_ptr: !tt.ptr<f32>, %y_ptr: !tt.ptr<f32>, %out_ptr: !tt.ptr<f32>) attributes {noinline = false} {
    %x = tt.load %x_ptr : !tt.ptr<f32>
    %y = tt.load %y_ptr : !tt.ptr<f32>
    %maxnumf = arith.maxnumf %x, %y : f32
    tt.store %out_ptr, %maxnumf : !tt.ptr<f32>
    %constant = arith.constant 0.0 : f32
    %maximumf = arith.maximumf %x, %constant : f32
    tt.store %out_ptr, %maximumf : !tt.ptr<f32>
    tt.return
  }
}
