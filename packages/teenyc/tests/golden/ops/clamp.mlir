// (x_ptr: Ptr[f16], y_ptr: Ptr[f16], out_ptr: Ptr[f16], n: i32)
// o = tl.arange(0, 16)
// x, y = tl.load(x_ptr + o), tl.load(y_ptr + o)
// x = tl.clamp(x, -1.0, y) + tl.clamp(x, y, 1.0, propagate_nan=tl.PropagateNan.ALL)
// tl.store(out_ptr + o, x * tl.clamp(n, 0, 7))
module {
  tt.func public @clamp_entry_point(%x_ptr: !tt.ptr<f16>, %y_ptr: !tt.ptr<f16>, %out_ptr: !tt.ptr<f16>, %n: i32) attributes {noinline = false} {
    %o = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %splat = tt.splat %x_ptr : !tt.ptr<f16> -> tensor<16x!tt.ptr<f16>>
    %addptr = tt.addptr %splat, %o : tensor<16x!tt.ptr<f16>>, tensor<16xi32>
    %x = tt.load %addptr : tensor<16x!tt.ptr<f16>>
    %splat_1 = tt.splat %y_ptr : !tt.ptr<f16> -> tensor<16x!tt.ptr<f16>>
    %addptr_1 = tt.addptr %splat_1, %o : tensor<16x!tt.ptr<f16>>, tensor<16xi32>
    %y = tt.load %addptr_1 : tensor<16x!tt.ptr<f16>>
    %constant = arith.constant -1.0 : f16
    %splat_2 = tt.splat %constant : f16 -> tensor<16xf16>
    %clampf = tt.clampf %x, %splat_2, %y, propagateNan = none : tensor<16xf16>
    %constant_1 = arith.constant 1.0 : f16
    %splat_3 = tt.splat %constant_1 : f16 -> tensor<16xf16>
    %clampf_1 = tt.clampf %x, %y, %splat_3, propagateNan = all : tensor<16xf16>
    %x_1 = arith.addf %clampf, %clampf_1 : tensor<16xf16>
    %splat_4 = tt.splat %out_ptr : !tt.ptr<f16> -> tensor<16x!tt.ptr<f16>>
    %addptr_2 = tt.addptr %splat_4, %o : tensor<16x!tt.ptr<f16>>, tensor<16xi32>
    %constant_2 = arith.constant 0 : i32
    %constant_3 = arith.constant 7 : i32
    %maxsi = arith.maxsi %n, %constant_2 : i32
    %minsi = arith.minsi %maxsi, %constant_3 : i32
    %sitofp = arith.sitofp %minsi : i32 to f16
    %splat_5 = tt.splat %sitofp : f16 -> tensor<16xf16>
    %mulf = arith.mulf %x_1, %splat_5 : tensor<16xf16>
    tt.store %addptr_2, %mulf : tensor<16x!tt.ptr<f16>>
    tt.return
  }
}
