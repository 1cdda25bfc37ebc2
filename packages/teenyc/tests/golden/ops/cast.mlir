// (x_ptr: Ptr[f16], out_ptr: Ptr[i8])
// o = tl.arange(0, 16)
// x = tl.load(x_ptr + o)
// tl.store(out_ptr + o, x.to(bf16).to(i1).to(u8).to(f64).to(f16))
// tl.store(out_ptr + o, x.to(f32).to(f16, fp_downcast_rounding="rtz"))
// tl.store(out_ptr + o, tl.cast(x, i16, bitcast=True))
module {
  tt.func public @cast_entry_point(%x_ptr: !tt.ptr<f16>, %out_ptr: !tt.ptr<i8>) attributes {noinline = false} {
    %o = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %splat = tt.splat %x_ptr : !tt.ptr<f16> -> tensor<16x!tt.ptr<f16>>
    %addptr = tt.addptr %splat, %o : tensor<16x!tt.ptr<f16>>, tensor<16xi32>
    %x = tt.load %addptr : tensor<16x!tt.ptr<f16>>
    %splat_1 = tt.splat %out_ptr : !tt.ptr<i8> -> tensor<16x!tt.ptr<i8>>
    %addptr_1 = tt.addptr %splat_1, %o : tensor<16x!tt.ptr<i8>>, tensor<16xi32>
    %extf = arith.extf %x : tensor<16xf16> to tensor<16xf32>
    %truncf = arith.truncf %extf : tensor<16xf32> to tensor<16xbf16>
    %extf_1 = arith.extf %truncf : tensor<16xbf16> to tensor<16xf32>
    %constant = arith.constant 0.0 : f32
    %splat_2 = tt.splat %constant : f32 -> tensor<16xf32>
    %cmpf = arith.cmpf une, %extf_1, %splat_2 : tensor<16xf32>
    %extui = arith.extui %cmpf : tensor<16xi1> to tensor<16xi8>
    %uitofp = arith.uitofp %extui : tensor<16xi8> to tensor<16xf64>
    %truncf_1 = arith.truncf %uitofp : tensor<16xf64> to tensor<16xf16>
    %extf_2 = arith.extf %truncf_1 : tensor<16xf16> to tensor<16xf32>
    %fptosi = arith.fptosi %extf_2 : tensor<16xf32> to tensor<16xi8>
    tt.store %addptr_1, %fptosi : tensor<16x!tt.ptr<i8>>
    %splat_3 = tt.splat %out_ptr : !tt.ptr<i8> -> tensor<16x!tt.ptr<i8>>
    %addptr_2 = tt.addptr %splat_3, %o : tensor<16x!tt.ptr<i8>>, tensor<16xi32>
    %extf_3 = arith.extf %x : tensor<16xf16> to tensor<16xf32>
    %fp_to_fp = tt.fp_to_fp %extf_3, rounding = rtz : tensor<16xf32> -> tensor<16xf16>
    %extf_4 = arith.extf %fp_to_fp : tensor<16xf16> to tensor<16xf32>
    %fptosi_1 = arith.fptosi %extf_4 : tensor<16xf32> to tensor<16xi8>
    tt.store %addptr_2, %fptosi_1 : tensor<16x!tt.ptr<i8>>
    %splat_4 = tt.splat %out_ptr : !tt.ptr<i8> -> tensor<16x!tt.ptr<i8>>
    %addptr_3 = tt.addptr %splat_4, %o : tensor<16x!tt.ptr<i8>>, tensor<16xi32>
    %bitcast = tt.bitcast %x : tensor<16xf16> -> tensor<16xi16>
    %trunci = arith.trunci %bitcast : tensor<16xi16> to tensor<16xi8>
    tt.store %addptr_3, %trunci : tensor<16x!tt.ptr<i8>>
    tt.return
  }
}
