// (x_ptr: Ptr[f16], b_ptr: Ptr[i1], n: i32)
// o = tl.arange(0, 16)
// tl.store(x_ptr + o, 1.0, mask=o < n, cache_modifier=".cs")
// tl.store(x_ptr + o, 2.0, mask=o < n, eviction_policy="evict_first")
// tl.store(b_ptr + o, o < n)
// tl.store(x_ptr, n, mask=n > 1)
module {
  tt.func public @store_entry_point(%x_ptr: !tt.ptr<f16>, %b_ptr: !tt.ptr<i1>, %n: i32) attributes {noinline = false} {
    %o = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %splat = tt.splat %n : i32 -> tensor<16xi32>
    %cmpi = arith.cmpi slt, %o, %splat : tensor<16xi32>
    %splat_1 = tt.splat %x_ptr : !tt.ptr<f16> -> tensor<16x!tt.ptr<f16>>
    %addptr = tt.addptr %splat_1, %o : tensor<16x!tt.ptr<f16>>, tensor<16xi32>
    %constant = arith.constant 1.0 : f32
    %splat_2 = tt.splat %constant : f32 -> tensor<16xf32>
    %truncf = arith.truncf %splat_2 : tensor<16xf32> to tensor<16xf16>
    tt.store %addptr, %truncf, %cmpi {cachePolicy = #tt.cache_policy<cache_modifier = cs, eviction_policy = evict_normal>} : tensor<16x!tt.ptr<f16>>
    %splat_3 = tt.splat %n : i32 -> tensor<16xi32>
    %cmpi_1 = arith.cmpi slt, %o, %splat_3 : tensor<16xi32>
    %splat_4 = tt.splat %x_ptr : !tt.ptr<f16> -> tensor<16x!tt.ptr<f16>>
    %addptr_1 = tt.addptr %splat_4, %o : tensor<16x!tt.ptr<f16>>, tensor<16xi32>
    %constant_1 = arith.constant 2.0 : f32
    %splat_5 = tt.splat %constant_1 : f32 -> tensor<16xf32>
    %truncf_1 = arith.truncf %splat_5 : tensor<16xf32> to tensor<16xf16>
    tt.store %addptr_1, %truncf_1, %cmpi_1 {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_first>} : tensor<16x!tt.ptr<f16>>
    %splat_6 = tt.splat %b_ptr : !tt.ptr<i1> -> tensor<16x!tt.ptr<i1>>
    %addptr_2 = tt.addptr %splat_6, %o : tensor<16x!tt.ptr<i1>>, tensor<16xi32>
    %splat_7 = tt.splat %n : i32 -> tensor<16xi32>
    %cmpi_2 = arith.cmpi slt, %o, %splat_7 : tensor<16xi32>
    %bitcast = tt.bitcast %addptr_2 : tensor<16x!tt.ptr<i1>> -> tensor<16x!tt.ptr<i8>>
    %extui = arith.extui %cmpi_2 : tensor<16xi1> to tensor<16xi8>
    tt.store %bitcast, %extui : tensor<16x!tt.ptr<i8>>
    %constant_2 = arith.constant 1 : i32
    %cmpi_3 = arith.cmpi sgt, %n, %constant_2 : i32
    %sitofp = arith.sitofp %n : i32 to f16
    tt.store %x_ptr, %sitofp, %cmpi_3 : !tt.ptr<f16>
    tt.return
  }
}
