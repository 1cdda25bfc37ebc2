// (x_ptr: Ptr[f16], out_ptr: Ptr[f16])
// o = tl.arange(0, 16)
// x = tl.load(x_ptr + o)
// tl.store(out_ptr + o, tl.where(x > 0, x, 0.5))
module {
  tt.func public @where_entry_point(%x_ptr: !tt.ptr<f16>, %out_ptr: !tt.ptr<f16>) attributes {noinline = false} {
    %o = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %splat = tt.splat %x_ptr : !tt.ptr<f16> -> tensor<16x!tt.ptr<f16>>
    %addptr = tt.addptr %splat, %o : tensor<16x!tt.ptr<f16>>, tensor<16xi32>
    %x = tt.load %addptr : tensor<16x!tt.ptr<f16>>
    %splat_1 = tt.splat %out_ptr : !tt.ptr<f16> -> tensor<16x!tt.ptr<f16>>
    %addptr_1 = tt.addptr %splat_1, %o : tensor<16x!tt.ptr<f16>>, tensor<16xi32>
    %constant = arith.constant 0.0 : f16
    %splat_2 = tt.splat %constant : f16 -> tensor<16xf16>
    %cmpf = arith.cmpf ogt, %x, %splat_2 : tensor<16xf16>
    %constant_1 = arith.constant 0.5 : f16
    %splat_3 = tt.splat %constant_1 : f16 -> tensor<16xf16>
    %select = arith.select %cmpf, %x, %splat_3 : tensor<16xi1>, tensor<16xf16>
    tt.store %addptr_1, %select : tensor<16x!tt.ptr<f16>>
    tt.return
  }
}
