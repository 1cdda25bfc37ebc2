// (x_ptr: Ptr[f32], n: i32, m: u32)
// x = tl.load(x_ptr)
// tl.store(x_ptr, tl.minimum(x, 6.0, propagate_nan=tl.PropagateNan.ALL))
// tl.store(x_ptr, tl.minimum(n, 3))
// tl.store(x_ptr, tl.minimum(m, 3))
module {
  tt.func public @minimum_entry_point(%x_ptr: !tt.ptr<f32>, %n: i32, %m: i32) attributes {noinline = false} {
    %x = tt.load %x_ptr : !tt.ptr<f32>
    %constant = arith.constant 6.0 : f32
    %minimumf = arith.minimumf %x, %constant : f32
    tt.store %x_ptr, %minimumf : !tt.ptr<f32>
    %constant_1 = arith.constant 3 : i32
    %minsi = arith.minsi %n, %constant_1 : i32
    %sitofp = arith.sitofp %minsi : i32 to f32
    tt.store %x_ptr, %sitofp : !tt.ptr<f32>
    %constant_2 = arith.constant 3 : i32
    %minui = arith.minui %m, %constant_2 : i32
    %uitofp = arith.uitofp %minui : i32 to f32
    tt.store %x_ptr, %uitofp : !tt.ptr<f32>
    tt.return
  }
}
