// (x_ptr: Ptr[f16], b_ptr: Ptr[i1], out_ptr: Ptr[f16], n: i32)
// o = tl.arange(0, 16)
// x = tl.load(x_ptr + o, mask=o < n, other=0.0, cache_modifier=".cg")
// x += tl.load(x_ptr + o, mask=o < n, other=0.0, eviction_policy="evict_last")
// y = tl.load(x_ptr + o, mask=tl.load(b_ptr + o), volatile=True)
// z = tl.load(x_ptr, mask=n > 1, other=1)
// tl.store(out_ptr + o, x + y + z)
module {
  tt.func public @load_entry_point(%x_ptr: !tt.ptr<f16>, %b_ptr: !tt.ptr<i1>, %out_ptr: !tt.ptr<f16>, %n: i32) attributes {noinline = false} {
    %o = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %splat = tt.splat %n : i32 -> tensor<16xi32>
    %cmpi = arith.cmpi slt, %o, %splat : tensor<16xi32>
    %splat_1 = tt.splat %x_ptr : !tt.ptr<f16> -> tensor<16x!tt.ptr<f16>>
    %addptr = tt.addptr %splat_1, %o : tensor<16x!tt.ptr<f16>>, tensor<16xi32>
    %constant = arith.constant 0.0 : f32
    %splat_2 = tt.splat %constant : f32 -> tensor<16xf32>
    %truncf = arith.truncf %splat_2 : tensor<16xf32> to tensor<16xf16>
    %x = tt.load %addptr, %cmpi, %truncf {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_normal>} : tensor<16x!tt.ptr<f16>>
    %splat_3 = tt.splat %n : i32 -> tensor<16xi32>
    %cmpi_1 = arith.cmpi slt, %o, %splat_3 : tensor<16xi32>
    %splat_4 = tt.splat %x_ptr : !tt.ptr<f16> -> tensor<16x!tt.ptr<f16>>
    %addptr_1 = tt.addptr %splat_4, %o : tensor<16x!tt.ptr<f16>>, tensor<16xi32>
    %constant_1 = arith.constant 0.0 : f32
    %splat_5 = tt.splat %constant_1 : f32 -> tensor<16xf32>
    %truncf_1 = arith.truncf %splat_5 : tensor<16xf32> to tensor<16xf16>
    %load = tt.load %addptr_1, %cmpi_1, %truncf_1 {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_last>} : tensor<16x!tt.ptr<f16>>
    %x_1 = arith.addf %x, %load : tensor<16xf16>
    %splat_6 = tt.splat %x_ptr : !tt.ptr<f16> -> tensor<16x!tt.ptr<f16>>
    %addptr_2 = tt.addptr %splat_6, %o : tensor<16x!tt.ptr<f16>>, tensor<16xi32>
    %splat_7 = tt.splat %b_ptr : !tt.ptr<i1> -> tensor<16x!tt.ptr<i1>>
    %addptr_3 = tt.addptr %splat_7, %o : tensor<16x!tt.ptr<i1>>, tensor<16xi32>
    %bitcast = tt.bitcast %addptr_3 : tensor<16x!tt.ptr<i1>> -> tensor<16x!tt.ptr<i8>>
    %load_1 = tt.load %bitcast : tensor<16x!tt.ptr<i8>>
    %constant_2 = arith.constant 0 : i8
    %splat_8 = tt.splat %constant_2 : i8 -> tensor<16xi8>
    %cmpi_2 = arith.cmpi ne, %load_1, %splat_8 : tensor<16xi8>
    %y = tt.load %addptr_2, %cmpi_2 {isVolatile = true} : tensor<16x!tt.ptr<f16>>
    %constant_3 = arith.constant 1 : i32
    %cmpi_3 = arith.cmpi sgt, %n, %constant_3 : i32
    %constant_4 = arith.constant 1 : i32
    %sitofp = arith.sitofp %constant_4 : i32 to f16
    %z = tt.load %x_ptr, %cmpi_3, %sitofp : !tt.ptr<f16>
    %splat_9 = tt.splat %out_ptr : !tt.ptr<f16> -> tensor<16x!tt.ptr<f16>>
    %addptr_4 = tt.addptr %splat_9, %o : tensor<16x!tt.ptr<f16>>, tensor<16xi32>
    %addf = arith.addf %x_1, %y : tensor<16xf16>
    %splat_10 = tt.splat %z : f16 -> tensor<16xf16>
    %addf_1 = arith.addf %addf, %splat_10 : tensor<16xf16>
    tt.store %addptr_4, %addf_1 : tensor<16x!tt.ptr<f16>>
    tt.return
  }
}
