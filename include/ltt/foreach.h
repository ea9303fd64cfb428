/* SPDX-License-Identifier: MIT */
/*
 * ltt/foreach.h - preprocessor loops for ltt/tracepoint.h. Not for use by programs.
 *
 * LTT__EACH(M, id, a, b, c) expands to M(3, id, a) M(2, id, b) M(1, id, c), for up
 * to 64 elements: each has a number, from which M can make unique identifiers. The
 * caller passes the elements as plain __VA_ARGS__, so that a macro which expands to several
 * of them has been expanded before they are counted.
 */
#ifndef LTT_FOREACH_H
#define LTT_FOREACH_H

#define LTT__CAT_(a, b) a##b
#define LTT__CAT(a, b) LTT__CAT_(a, b)

#define LTT__EACH(m, id, ...) \
	LTT__CAT(LTT__EACH_IF_, LTT__ANY(__VA_ARGS__, ~))(m, id, __VA_ARGS__)
#define LTT__EACH_IF_0(m, id, ...)
#define LTT__EACH_IF_1(m, id, ...) \
	LTT__CAT(LTT__EACH_, LTT__COUNT(__VA_ARGS__))(m, id, __VA_ARGS__)

/* Whether there is an element at all, in parentheses or not. */
#define LTT__ANY(first, ...) LTT__CAT(LTT__ANY_, LTT__TUPLE(first))(first)
#define LTT__ANY_1(first) 1
#define LTT__ANY_0(first) LTT__CAT(LTT__NOT_, LTT__SECOND(LTT__TUPLE_ first (), 0, 0))
#define LTT__NOT_0 1
#define LTT__NOT_1 0

/* LTT__TUPLE(x): is x in parentheses? LTT__FORM(a, b, c): 1 if each one is, 0 if one is not,
 * 2 if there are more than 64. */
#define LTT__TUPLE(...) LTT__SECOND(LTT__TUPLE_ __VA_ARGS__, 0, 0)
#define LTT__TUPLE_(...) ~, 1
#define LTT__FORM(...) \
	LTT__CAT(LTT__FORM_, LTT__TUPLE(LTT__COUNT(__VA_ARGS__)))(__VA_ARGS__)
#define LTT__FORM_1(...) 2
#define LTT__FORM_0(...) LTT__SECOND(~ LTT__EACH(LTT__NO_TUPLE, ~, __VA_ARGS__), 1, 0)
#define LTT__NO_TUPLE(n, id, x) LTT__CAT(LTT__NO_TUPLE_, LTT__TUPLE(x))
#define LTT__NO_TUPLE_0 , 0
#define LTT__NO_TUPLE_1
#define LTT__SECOND(...) LTT__SECOND_(__VA_ARGS__)
#define LTT__SECOND_(first, second, ...) second

#define LTT__OPEN(...) __VA_ARGS__

#define LTT__COUNT(...) \
	LTT__COUNT_(~, __VA_ARGS__, \
		64, 63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, \
		44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, \
		24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, \
		3, 2, 1, 0)
#define LTT__COUNT_( \
		a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, \
		a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, \
		a34, a35, a36, a37, a38, a39, a40, a41, a42, a43, a44, a45, a46, a47, a48, a49, \
		a50, a51, a52, a53, a54, a55, a56, a57, a58, a59, a60, a61, a62, a63, a64, \
		n, ...) n

#define LTT__EACH_1(m, id, x) m(1, id, x)
#define LTT__EACH_2(m, id, x, ...) m(2, id, x) LTT__EACH_1(m, id, __VA_ARGS__)
#define LTT__EACH_3(m, id, x, ...) m(3, id, x) LTT__EACH_2(m, id, __VA_ARGS__)
#define LTT__EACH_4(m, id, x, ...) m(4, id, x) LTT__EACH_3(m, id, __VA_ARGS__)
#define LTT__EACH_5(m, id, x, ...) m(5, id, x) LTT__EACH_4(m, id, __VA_ARGS__)
#define LTT__EACH_6(m, id, x, ...) m(6, id, x) LTT__EACH_5(m, id, __VA_ARGS__)
#define LTT__EACH_7(m, id, x, ...) m(7, id, x) LTT__EACH_6(m, id, __VA_ARGS__)
#define LTT__EACH_8(m, id, x, ...) m(8, id, x) LTT__EACH_7(m, id, __VA_ARGS__)
#define LTT__EACH_9(m, id, x, ...) m(9, id, x) LTT__EACH_8(m, id, __VA_ARGS__)
#define LTT__EACH_10(m, id, x, ...) m(10, id, x) LTT__EACH_9(m, id, __VA_ARGS__)
#define LTT__EACH_11(m, id, x, ...) m(11, id, x) LTT__EACH_10(m, id, __VA_ARGS__)
#define LTT__EACH_12(m, id, x, ...) m(12, id, x) LTT__EACH_11(m, id, __VA_ARGS__)
#define LTT__EACH_13(m, id, x, ...) m(13, id, x) LTT__EACH_12(m, id, __VA_ARGS__)
#define LTT__EACH_14(m, id, x, ...) m(14, id, x) LTT__EACH_13(m, id, __VA_ARGS__)
#define LTT__EACH_15(m, id, x, ...) m(15, id, x) LTT__EACH_14(m, id, __VA_ARGS__)
#define LTT__EACH_16(m, id, x, ...) m(16, id, x) LTT__EACH_15(m, id, __VA_ARGS__)
#define LTT__EACH_17(m, id, x, ...) m(17, id, x) LTT__EACH_16(m, id, __VA_ARGS__)
#define LTT__EACH_18(m, id, x, ...) m(18, id, x) LTT__EACH_17(m, id, __VA_ARGS__)
#define LTT__EACH_19(m, id, x, ...) m(19, id, x) LTT__EACH_18(m, id, __VA_ARGS__)
#define LTT__EACH_20(m, id, x, ...) m(20, id, x) LTT__EACH_19(m, id, __VA_ARGS__)
#define LTT__EACH_21(m, id, x, ...) m(21, id, x) LTT__EACH_20(m, id, __VA_ARGS__)
#define LTT__EACH_22(m, id, x, ...) m(22, id, x) LTT__EACH_21(m, id, __VA_ARGS__)
#define LTT__EACH_23(m, id, x, ...) m(23, id, x) LTT__EACH_22(m, id, __VA_ARGS__)
#define LTT__EACH_24(m, id, x, ...) m(24, id, x) LTT__EACH_23(m, id, __VA_ARGS__)
#define LTT__EACH_25(m, id, x, ...) m(25, id, x) LTT__EACH_24(m, id, __VA_ARGS__)
#define LTT__EACH_26(m, id, x, ...) m(26, id, x) LTT__EACH_25(m, id, __VA_ARGS__)
#define LTT__EACH_27(m, id, x, ...) m(27, id, x) LTT__EACH_26(m, id, __VA_ARGS__)
#define LTT__EACH_28(m, id, x, ...) m(28, id, x) LTT__EACH_27(m, id, __VA_ARGS__)
#define LTT__EACH_29(m, id, x, ...) m(29, id, x) LTT__EACH_28(m, id, __VA_ARGS__)
#define LTT__EACH_30(m, id, x, ...) m(30, id, x) LTT__EACH_29(m, id, __VA_ARGS__)
#define LTT__EACH_31(m, id, x, ...) m(31, id, x) LTT__EACH_30(m, id, __VA_ARGS__)
#define LTT__EACH_32(m, id, x, ...) m(32, id, x) LTT__EACH_31(m, id, __VA_ARGS__)
#define LTT__EACH_33(m, id, x, ...) m(33, id, x) LTT__EACH_32(m, id, __VA_ARGS__)
#define LTT__EACH_34(m, id, x, ...) m(34, id, x) LTT__EACH_33(m, id, __VA_ARGS__)
#define LTT__EACH_35(m, id, x, ...) m(35, id, x) LTT__EACH_34(m, id, __VA_ARGS__)
#define LTT__EACH_36(m, id, x, ...) m(36, id, x) LTT__EACH_35(m, id, __VA_ARGS__)
#define LTT__EACH_37(m, id, x, ...) m(37, id, x) LTT__EACH_36(m, id, __VA_ARGS__)
#define LTT__EACH_38(m, id, x, ...) m(38, id, x) LTT__EACH_37(m, id, __VA_ARGS__)
#define LTT__EACH_39(m, id, x, ...) m(39, id, x) LTT__EACH_38(m, id, __VA_ARGS__)
#define LTT__EACH_40(m, id, x, ...) m(40, id, x) LTT__EACH_39(m, id, __VA_ARGS__)
#define LTT__EACH_41(m, id, x, ...) m(41, id, x) LTT__EACH_40(m, id, __VA_ARGS__)
#define LTT__EACH_42(m, id, x, ...) m(42, id, x) LTT__EACH_41(m, id, __VA_ARGS__)
#define LTT__EACH_43(m, id, x, ...) m(43, id, x) LTT__EACH_42(m, id, __VA_ARGS__)
#define LTT__EACH_44(m, id, x, ...) m(44, id, x) LTT__EACH_43(m, id, __VA_ARGS__)
#define LTT__EACH_45(m, id, x, ...) m(45, id, x) LTT__EACH_44(m, id, __VA_ARGS__)
#define LTT__EACH_46(m, id, x, ...) m(46, id, x) LTT__EACH_45(m, id, __VA_ARGS__)
#define LTT__EACH_47(m, id, x, ...) m(47, id, x) LTT__EACH_46(m, id, __VA_ARGS__)
#define LTT__EACH_48(m, id, x, ...) m(48, id, x) LTT__EACH_47(m, id, __VA_ARGS__)
#define LTT__EACH_49(m, id, x, ...) m(49, id, x) LTT__EACH_48(m, id, __VA_ARGS__)
#define LTT__EACH_50(m, id, x, ...) m(50, id, x) LTT__EACH_49(m, id, __VA_ARGS__)
#define LTT__EACH_51(m, id, x, ...) m(51, id, x) LTT__EACH_50(m, id, __VA_ARGS__)
#define LTT__EACH_52(m, id, x, ...) m(52, id, x) LTT__EACH_51(m, id, __VA_ARGS__)
#define LTT__EACH_53(m, id, x, ...) m(53, id, x) LTT__EACH_52(m, id, __VA_ARGS__)
#define LTT__EACH_54(m, id, x, ...) m(54, id, x) LTT__EACH_53(m, id, __VA_ARGS__)
#define LTT__EACH_55(m, id, x, ...) m(55, id, x) LTT__EACH_54(m, id, __VA_ARGS__)
#define LTT__EACH_56(m, id, x, ...) m(56, id, x) LTT__EACH_55(m, id, __VA_ARGS__)
#define LTT__EACH_57(m, id, x, ...) m(57, id, x) LTT__EACH_56(m, id, __VA_ARGS__)
#define LTT__EACH_58(m, id, x, ...) m(58, id, x) LTT__EACH_57(m, id, __VA_ARGS__)
#define LTT__EACH_59(m, id, x, ...) m(59, id, x) LTT__EACH_58(m, id, __VA_ARGS__)
#define LTT__EACH_60(m, id, x, ...) m(60, id, x) LTT__EACH_59(m, id, __VA_ARGS__)
#define LTT__EACH_61(m, id, x, ...) m(61, id, x) LTT__EACH_60(m, id, __VA_ARGS__)
#define LTT__EACH_62(m, id, x, ...) m(62, id, x) LTT__EACH_61(m, id, __VA_ARGS__)
#define LTT__EACH_63(m, id, x, ...) m(63, id, x) LTT__EACH_62(m, id, __VA_ARGS__)
#define LTT__EACH_64(m, id, x, ...) m(64, id, x) LTT__EACH_63(m, id, __VA_ARGS__)

#endif
