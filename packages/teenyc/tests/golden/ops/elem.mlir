// (x_ptr: Ptr[f32], out_ptr: Ptr[f16])
// tl.store(out_ptr, tl.load(x_ptr).to(tl.elem(out_ptr)))
module {
  tt.func public @elem_entry_point(%x_ptr: !tt.ptr<f32>, %out_ptr: !tt.ptr<f16>) attributes {noinline = false} {
    %load = tt.load %x_ptr : !tt.ptr<f32>
    %truncf = arith.truncf %load : f32 to f16
    tt.store %out_ptr, %truncf : !tt.ptr<f16>
    tt.return
  }
}
